// Package discovery tells clients what the server serves.
package discovery
