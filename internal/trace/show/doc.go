// Package show writes the lives of events for people, as waterfalls and trees, and for
// other programs, as OTLP.
//
// Text is laid out for a terminal of 100 columns. The caller chooses colors: the zero
// Palette writes plain text.
package show
