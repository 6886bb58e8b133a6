// Package guard stands between Pebble and the file system, so that a write that fails never
// reaches Pebble, and records how much of the log file is synced.
package guard
