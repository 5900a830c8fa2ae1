"""Shipped conformance checks: what every policy must satisfy, and tiny problems to try it on."""
