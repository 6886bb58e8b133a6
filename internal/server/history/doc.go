// Package history serves the history of one object; package internal/history describes the answer,
// where it comes from, and who may read it.
package history
