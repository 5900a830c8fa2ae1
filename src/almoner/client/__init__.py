"""HTTP clients of the service."""

from almoner.client.async_client import AsyncClient
from almoner.client.http_client import Client

__all__ = ["AsyncClient", "Client"]
