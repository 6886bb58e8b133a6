// Package schedulertest builds nodes, pods and clusters for tests of the scheduler.
package schedulertest
