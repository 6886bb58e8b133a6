// Package openapi describes what the server serves, as OpenAPI v2 and v3.
package openapi
