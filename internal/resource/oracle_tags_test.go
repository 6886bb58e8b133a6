package resource_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A tag is a validation tag of validation-gen without its prefixes.
type tag struct {
	text      string // as written, without "+k8s:"
	stage     string // "", "alpha" or "beta"
	gate      string // name of the feature gate on which it depends
	enabled   bool   // it holds if the gate is enabled, rather than disabled
	each      string // "", "eachVal" or "eachKey"
	subfield  string
	item      string // the member of a list for which it holds
	mode      string // of the discriminator, for which it holds
	name, arg string // such as maxItems and 32
}

var tagPrefix = regexp.MustCompile(`^(alpha|beta|ifEnabled|ifDisabled|subfield|item|ifMode)\(([^)]*)\)=\+k8s:(.*)$`)

// parseTag parses a tag such as "+k8s:beta(since: "1.37")=+k8s:eachVal=+k8s:maxBytes=64".
func parseTag(text string) tag {
	t := tag{text: text}
	for {
		if m := tagPrefix.FindStringSubmatch(text); m != nil {
			arg := strings.Trim(m[2], `"`)
			switch text = m[3]; m[1] {
			case "alpha", "beta":
				t.stage = m[1]
			case "ifEnabled", "ifDisabled":
				t.gate, t.enabled = arg, m[1] == "ifEnabled"
			case "subfield":
				t.subfield = arg
			case "item":
				_, t.item, _ = strings.Cut(arg, `"`) // type: "Approved"
			case "ifMode":
				t.mode = arg
			}
			continue
		}
		name, rest, ok := strings.Cut(text, "=+k8s:")
		if ok && (name == "eachVal" || name == "eachKey") {
			t.each, text = name, rest
			continue
		}
		text, _, _ = strings.Cut(text, " #")
		t.name, t.arg, _ = strings.Cut(text, "=")
		if name, arg, ok := strings.Cut(t.name, "("); ok {
			t.name, t.arg = name, strings.TrimSuffix(arg, ")")
		}
		t.arg = strings.Trim(t.arg, `"`)
		return t
	}
}

// generatorTags are tags without a promise about values.
var generatorTags = map[string]bool{
	"deepcopy-gen": true, "prerelease-lifecycle-gen": true, "conversion-gen": true, "openapi-gen": true, "validation-gen-nolint": true,
	"supportsSubresource": true, "isSubresource": true, "deprecated": true, "protobuf-gen": true,
	"opaqueType":        true, // the generated code does not look into the type
	"customValidation":  true, // hand-written code has the rule
	"customUnique":      true, // likewise
	"listMapKey":        true, // an argument of listType and unique
	"modeDiscriminator": true, // an argument of ifMode
}

// apiTypes has the tags of the types of a package of k8s.io/api: by name of the type, then by name of its field, ""
// being the type itself.
type apiTypes map[string]map[string][]tag

// apiDir returns the directory of k8s.io/api in the module cache.
func apiDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("the sources of k8s.io/api are not in the module cache (%v): run go mod download", err)
	}
	return dir
}

// readTags reads the tags of all packages of k8s.io/api, by import path.
func readTags(t *testing.T) map[string]apiTypes {
	t.Helper()
	dir, all := apiDir(t), map[string]apiTypes{}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*types*.go"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files of types in %s (%v)", len(files), dir, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		folder, _ := filepath.Rel(dir, filepath.Dir(file))
		path := "k8s.io/api/" + filepath.ToSlash(folder)
		if all[path] == nil {
			all[path] = apiTypes{}
		}
		all[path].read(parsed)
	}
	return all
}

func (a apiTypes) read(file *ast.File) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.TYPE {
			continue
		}
		for _, spec := range gen.Specs {
			s := spec.(*ast.TypeSpec)
			fields := map[string][]tag{"": append(tagsOf(gen.Doc), tagsOf(s.Doc)...)}
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						fields[name.Name] = tagsOf(f.Doc)
					}
					if len(f.Names) == 0 { // embedded
						sel, _ := f.Type.(*ast.SelectorExpr)
						if id, ok := f.Type.(*ast.Ident); ok {
							fields[id.Name] = tagsOf(f.Doc)
						} else if sel != nil {
							fields[sel.Sel.Name] = tagsOf(f.Doc)
						}
					}
				}
			}
			a[s.Name.Name] = fields
		}
	}
}

func tagsOf(doc *ast.CommentGroup) (tags []tag) {
	if doc == nil {
		return nil
	}
	for _, c := range doc.List {
		text, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(c.Text, "//")), "+k8s:")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(text, ":")
		if t := parseTag(text); !generatorTags[t.name] && !generatorTags[name] {
			tags = append(tags, t)
		}
	}
	return tags
}
