"""HTTP client of the service."""

from almoner.client.http_client import Client

__all__ = ["Client"]
