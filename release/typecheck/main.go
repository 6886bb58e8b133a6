// Command typecheck type-checks the packages of a module, and their tests, for other systems.
//
//	typecheck -C .. darwin/arm64 windows/amd64
//
// It reads all packages, those of other modules too, as source and compiles no package, so that a platform takes seconds and
// no room in the build cache. `make cross` compiles and links.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	dir := flag.String("C", ".", "folder of the module")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "typecheck: want platforms, such as darwin/arm64")
		os.Exit(2)
	}
	failed := false
	for _, platform := range flag.Args() {
		if err := check(*dir, platform); err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check prints the errors of all packages of a module for a platform, and returns an error if there are any.
func check(dir, platform string) error {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("want SYSTEM/ARCHITECTURE")
	}
	roots, err := packages.Load(&packages.Config{
		// Without export data: go list would compile to have it.
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedModule,
		Dir:   dir,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		Tests: true,
	}, "./...")
	if err != nil {
		return err
	}
	if n := packages.PrintErrors(roots); n > 0 {
		return fmt.Errorf("%d errors in %d packages", n, len(roots))
	}
	if len(roots) == 0 {
		return errors.New("no packages")
	}
	return nil
}
