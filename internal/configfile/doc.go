// Package configfile sets the flags of a command by a file, and writes such a file.
//
// # Contract
//
//   - A file is YAML or JSON with apiVersion and kind. Its other fields are flags, by the names that they have on the command
//     line, with strings, numbers, booleans, lists and maps as values.
//   - Flags on the command line replace those of the file, including lists and maps as a whole.
//   - A field that is no flag of the command, a field that is there twice, and a value that a flag refuses are errors that
//     name the file and the field.
//   - Write writes all flags with their values, so that reading the result changes none.
package configfile
