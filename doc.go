// Package fairlead is the root of the Fairlead module: the Kubernetes control
// plane rebuilt around the life of one watch event.
//
// It holds no code. The program is cmd/fairlead; the packages that others import
// are the folders beside this file, and ARCHITECTURE.md walks through them.
package fairlead
