// Package show writes the lives of events for people, as waterfalls and trees, and for
// other programs, as OTLP.
//
// What it writes is meant for a terminal of 100 columns. Color is left to the caller: a
// Palette of nothing writes plain text.
package show
