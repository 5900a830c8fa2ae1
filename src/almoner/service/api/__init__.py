"""The JSON API: operations, types of requests and responses, and the OpenAPI document."""
