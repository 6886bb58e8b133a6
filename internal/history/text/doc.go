// Package text writes the history of an object for a terminal: its states as a table, the
// differences between two of them, and the origin of each line of an object.
//
// The width is that of the terminal; 0 writes lines of any length. Widths are counted in runes.
package text
