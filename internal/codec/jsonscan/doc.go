// Package jsonscan navigates JSON text (RFC 8259) without decoding it.
//
// One rule of trust holds for all functions: the text need not be valid. They never panic and never read outside
// of it, and a value that does not end, or a place where no value begins, is reported as such. They check only
// the bytes that separate values: brackets, quotes, commas and colons. Two texts that differ in a number's
// digits or in a bracket's kind are alike to them, so whether a text is JSON must be decided by a decoder.
//
// All functions are pure, and their results share the memory of their arguments. If an object has two members
// of one name, the first counts.
package jsonscan
