package fairlead_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateAPI = flag.Bool("update", false, "write the API of the public packages to api/")

// TestAPI compares the exported identifiers of the public packages, and their types, with the files in api/. There is
// one file for each package, and api/internal.txt for identifiers whose types are in internal packages without a public
// name: an outside user can hold such a value but cannot declare a variable of it. That list may only get shorter.
func TestAPI(t *testing.T) {
	packages := publicPackages(t)
	a := &api{own: map[string]bool{}, internal: map[string]bool{}}
	for _, p := range packages {
		a.names(p)
	}
	for _, p := range packages {
		if p.Path() == module {
			continue // only its documentation
		}
		a.lines = nil
		a.describe(p)
		name := strings.TrimPrefix(strings.TrimPrefix(p.Path(), module), "/")
		compareAPI(t, strings.ReplaceAll(name, "/", "-")+".txt", a.lines)
	}
	hidden := slices.Sorted(maps.Keys(a.internal))
	if had := readAPI(t, "internal.txt"); had != nil && len(hidden) > len(had) {
		t.Fatalf("more identifiers have internal types than in api/internal.txt: give the types public names\n-file +code\n%s", cmp.Diff(had, hidden))
	}
	compareAPI(t, "internal.txt", hidden)
}

// publicPackages loads the packages that others import.
func publicPackages(t *testing.T) (all []*types.Package) {
	t.Helper()
	var paths []string
	for _, path := range goList(t, "./...") {
		if isPublic(path) {
			paths = append(paths, path)
		}
	}
	packages := exported(t, paths)
	for _, path := range paths {
		all = append(all, packages[path])
	}
	return all
}

// exported loads packages from the compiler's export data.
func exported(t *testing.T, paths []string) map[string]*types.Package {
	t.Helper()
	files := map[string]string{}
	for _, line := range goList(t, append([]string{"-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}, paths...)...) {
		path, file, _ := strings.Cut(line, "=")
		files[path] = file
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	packages := map[string]*types.Package{}
	for _, path := range paths {
		p, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		packages[path] = p
	}
	return packages
}

func goList(t *testing.T, args ...string) []string {
	t.Helper()
	var stderr bytes.Buffer
	list := exec.Command("go", append([]string{"list"}, args...)...)
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	return strings.Fields(string(out))
}

func isPublic(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), "/")
	return first != "internal" && first != "cmd" && first != "examples"
}

// api collects the lines of one package after the other.
type api struct {
	own      map[string]bool // types of internal packages that have a public name
	internal map[string]bool
	pkg      *types.Package
	lines    []string
}

// names notes the internal types to which aliases of the package give a public name.
func (a *api) names(p *types.Package) {
	for _, name := range p.Scope().Names() {
		if obj, ok := p.Scope().Lookup(name).(*types.TypeName); ok && obj.Exported() {
			if n, ok := types.Unalias(obj.Type()).(*types.Named); ok {
				a.own[n.Obj().Pkg().Path()+"."+n.Obj().Name()] = true
			}
		}
	}
}

func (a *api) describe(p *types.Package) {
	a.pkg = p
	for _, name := range p.Scope().Names() {
		switch obj := p.Scope().Lookup(name).(type) {
		case *types.Const:
			if obj.Exported() {
				a.add("const "+name, obj.Type())
			}
		case *types.Var:
			if obj.Exported() {
				a.add("var "+name, obj.Type())
			}
		case *types.Func:
			if obj.Exported() {
				a.add("func "+name+a.typeParams(obj.Signature().TypeParams()), obj.Type())
			}
		case *types.TypeName:
			if obj.Exported() {
				a.describeType("type "+name, obj)
			}
		}
	}
	slices.Sort(a.lines)
}

// describeType adds the members of a type. Those of an internal type with a public name are the public's, too.
func (a *api) describeType(name string, obj *types.TypeName) {
	named, ok := types.Unalias(obj.Type()).(*types.Named)
	if !ok || obj.IsAlias() && !strings.HasPrefix(named.Obj().Pkg().Path(), module) {
		a.add(name+" =", types.Unalias(obj.Type()))
		return
	}
	name += a.typeParams(named.TypeParams())
	switch u := named.Underlying().(type) {
	case *types.Struct:
		a.lines = append(a.lines, name+" struct")
		for i := range u.NumFields() {
			if f := u.Field(i); f.Exported() && f.Embedded() {
				a.add(name+" struct, embedded", f.Type())
			} else if f.Exported() {
				a.add(name+" struct, "+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		kind := " interface"
		for i := range u.NumMethods() {
			if !u.Method(i).Exported() {
				kind = " interface with unexported methods"
			}
		}
		a.lines = append(a.lines, name+kind)
		for i := range u.NumMethods() {
			if m := u.Method(i); m.Exported() {
				a.add(name+kind+", "+m.Name(), m.Type())
			}
		}
	default:
		a.add(name, u)
	}
	for i := range named.NumMethods() {
		m := named.Method(i)
		if !m.Exported() {
			continue
		}
		star := ""
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			star = "*"
		}
		a.add(fmt.Sprintf("method (%s%s) %s", star, obj.Name(), m.Name()), m.Type())
	}
}

func (a *api) typeParams(params *types.TypeParamList) string {
	if params.Len() == 0 {
		return ""
	}
	var list []string
	for i := range params.Len() {
		list = append(list, params.At(i).Obj().Name()+" "+types.TypeString(params.At(i).Constraint(), a.qualify))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// add adds a line with a type.
func (a *api) add(name string, typ types.Type) {
	text := types.TypeString(unnamed(typ), a.qualify)
	if strings.HasPrefix(name, "func ") || strings.HasPrefix(name, "method ") || strings.Contains(name, " interface") {
		text = strings.TrimPrefix(text, "func")
	}
	a.lines = append(a.lines, name+" "+text)
	for _, n := range namedTypes(typ, nil) {
		if p := n.Obj().Pkg(); p != nil && strings.HasPrefix(p.Path(), module+"/internal/") && !a.own[p.Path()+"."+n.Obj().Name()] {
			a.internal[fmt.Sprintf("%s: %s: %s.%s", a.pkg.Path(), name, p.Path(), n.Obj().Name())] = true
		}
	}
}

func (a *api) qualify(p *types.Package) string {
	if p == a.pkg {
		return ""
	}
	return p.Path()
}

// unnamed returns the type without the names of parameters, which are no part of an API.
func unnamed(typ types.Type) types.Type {
	switch t := typ.(type) {
	case *types.Signature:
		return types.NewSignatureType(nil, nil, nil, tuple(t.Params()), tuple(t.Results()), t.Variadic())
	case *types.Pointer:
		return types.NewPointer(unnamed(t.Elem()))
	case *types.Slice:
		return types.NewSlice(unnamed(t.Elem()))
	case *types.Map:
		return types.NewMap(unnamed(t.Key()), unnamed(t.Elem()))
	}
	return typ
}

func tuple(t *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for i := range t.Len() {
		vars = append(vars, types.NewVar(token.NoPos, nil, "", unnamed(t.At(i).Type())))
	}
	return types.NewTuple(vars...)
}

// namedTypes returns the named types of which a type is made, without looking into them.
func namedTypes(typ types.Type, all []*types.Named) []*types.Named {
	switch t := types.Unalias(typ).(type) {
	case *types.Named:
		all = append(all, t)
		for i := range t.TypeArgs().Len() {
			all = namedTypes(t.TypeArgs().At(i), all)
		}
	case *types.Signature:
		for i := range t.Params().Len() {
			all = namedTypes(t.Params().At(i).Type(), all)
		}
		for i := range t.Results().Len() {
			all = namedTypes(t.Results().At(i).Type(), all)
		}
	case *types.Map:
		all = namedTypes(t.Elem(), namedTypes(t.Key(), all))
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		all = namedTypes(t.Elem(), all)
	}
	return all
}

// compareAPI compares lines with those of a file in api/, or writes them.
func compareAPI(t *testing.T, file string, lines []string) {
	t.Helper()
	if *updateAPI {
		if err := os.WriteFile(filepath.Join("api", file), []byte(strings.Join(append(lines, ""), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if had := readAPI(t, file); !slices.Equal(had, lines) {
		t.Errorf("the API differs from api/%s; if it should, write it by: go test . -run TestAPI -update\n-file +code\n%s", file, cmp.Diff(had, lines))
	}
}

// readAPI returns the lines of a file in api/, or nil if the file is missing.
func readAPI(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("api", file))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.FieldsFuncSeq(string(text), func(r rune) bool { return r == '\n' }))
}
