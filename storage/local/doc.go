// Package local is the embedded storage.Store.
package local
