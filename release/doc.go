// Package release tests what `make release` makes: the archives, packages, checksums, image and installer of a release. The
// tests read the folder dist of the repository, which goreleaser and the program image have written.
package release
