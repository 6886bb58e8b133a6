// Package health serves the health checks /livez, /readyz and /healthz, and the z-pages /statusz
// and /flagz.
package health
