// Package framework is the plugin API of the scheduler: filters, scores, their results, and
// the profiles made of them. Package scheduler exports it.
package framework
