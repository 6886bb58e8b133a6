// Package show writes the lives of events for people, as waterfalls and trees, and for
// other programs, as OTLP.
//
// The caller chooses the width of the text, and colors: the zero Palette writes plain text.
package show
