package fairlead_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "fairlead.dev"

// floors gives each room its floor; a folder below a room stands on the room's
// floor unless it has a line of its own. An import goes down, or stays within
// the room; it never goes up, and never to a neighbour on the same floor unless
// neighbours lists it.
var floors = map[string]int{
	"internal":                  0,
	"internal/server/h2":        1,
	"internal/server/aggregate": 5,
	"internal/server/extension": 5,
	"internal/server/flows":     5,
	"internal/instance":         1,
	"internal/procwait":         0,
	"storage":                   0,
	"trace":                     0,
	"workqueue":                 0,
	"client":                    1,
	"internal/storage":          1,
	"internal/watchcache":       1,
	"storage/etcd":              1,
	"storage/local":             2,
	"storage/storagetest":       1,
	"informer":                  2,
	"internal/resource":         2,
	"internal/trace":            2,
	"internal/etcdstandin":      1,
	"storage/etcdserver":        2,
	"watchcache":                2,
	"controller":                3,
	"internal/client":           3,
	"internal/informertest":     3,
	"internal/server":           3,
	"internal/controllers":      4,
	"internal/node":             4,
	"server":                    4,
	"internal/scheduler":        5,
	"node":                      5,
	"internal/nodegroups":       6,
	"scheduler":                 6,
	"internal/controlplane":     7,
	"internal/controlplane/pki": 0,
	"internal/clusters":         8,
	"internal/serverflags":      8,
	"internal/kubeapiserver":    9,
	"internal/join":             4,
	"internal/partflags":        9,
	"testenv":                   8,
	"internal/clientsuite":      9,
	"cmd":                       10,
}

// serverFloors gives each folder of internal/server its floor inside the room. As between
// rooms, an import goes down; a folder and those below it count as one, unless those have a line of
// their own. h2, extension, aggregate and flows are rooms of their own.
var serverFloors = map[string]int{
	"adopt":            0,
	"auth":             0,
	"componentmetrics": 0,
	"corpus":           0,
	"discovery":        0,
	"faults":           0,
	"inflight":         0,
	"openapi":          0,
	"scan":             0,
	"semantics":        0,
	"serializer":       0,
	"transcript":       0,
	"apistatus":        1,
	"audit":            1,
	"managed":          1,
	"patch":            1,
	"debugging":        0,
	"pressure":         0,
	"reach":            1,
	"respond":          1,
	"ui":               1,
	"admission":        2,
	"request":          2,
	"usage":            2,
	"connect":          3,
	"barrier":          3,
	"endpoint":         3,
	"spans":            3,
	"fairness":         3,
	"memory":           3,
	"metrics":          4,
	"represent":        4,
	"call":             5,
	"watch/source":     5,
	"health":           6,
	"history":          6,
	"watch":            6,
	"read":             7,
	"write":            8,
	"subresource":      9,
	"writetrace":       9,
	"inject":           10,
}

// schedulerFloors gives each folder of internal/scheduler its floor inside the room.
var schedulerFloors = map[string]int{
	"bell":             0,
	"metrics":          0,
	"devices":          1,
	"cache":            2,
	"framework":        3,
	"schedulertest":    3,
	"dynamicresources": 4,
	"extenders":        4,
	"placement":        4,
	"queue":            4,
	"volumes":          4,
	"plugins":          5,
	"config":           6,
}

// storageFloors gives each folder of internal/storage its floor inside the room.
var storageFloors = map[string]int{
	"datadir":    0,
	"encryption": 0,
	"holder":     0,
	"leases":     0,
	"mvcc":       0,
	"snapshot":   0,
	"guard":      1,
	"engine":     2,
}

// nodeFloors gives each folder of internal/node its floor inside the room.
var nodeFloors = map[string]int{
	"addresses":     0,
	"admission":     0,
	"dependencies":  0,
	"devices":       0,
	"expr":          0,
	"kubeletconfig": 0,
	"images":        0,
	"stage":         0,
	"eviction":      1,
	"kwok":          1,
	"objectcache":   1,
	"shell":         1,
	"volumes":       1,
	"kubelet":       2,
	"lifecycle":     2,
	"numa":          1,
}

// watchcacheFloors gives each folder of internal/watchcache its floor inside the room.
var watchcacheFloors = map[string]int{
	"bell":      0,
	"follow":    0,
	"object":    0,
	"seqlog":    0,
	"change":    1,
	"selection": 1,
	"history":   2,
	"index":     2,
	"topic":     2,
}

// inside are the rooms whose folders have floors of their own.
var inside = map[string]map[string]int{
	"internal/node":       nodeFloors,
	"internal/scheduler":  schedulerFloors,
	"internal/server":     serverFloors,
	"internal/storage":    storageFloors,
	"internal/watchcache": watchcacheFloors,
}

// clientSide and serverSide are the two banks of the wire: neither imports the
// other, so each can be tested against the other's real thing, ours or
// upstream's.
var (
	clientSide = []string{"client", "informer", "workqueue", "controller", "scheduler", "node", "internal/client", "internal/controllers", "internal/join", "internal/node", "internal/nodegroups", "internal/scheduler"}
	serverSide = []string{"storage", "watchcache", "server", "internal/storage", "internal/watchcache", "internal/resource", "internal/server"}
)

// bans are imports that must not appear outside tests, each with its reason.
var bans = []struct{ prefix, reason string }{
	{"k8s.io/kubernetes", "cannot be imported cleanly: whoever imports us would need its replace lines"},
	{"k8s.io/apiserver", "its storage, cacher and registry are what this project does better"},
	{"k8s.io/client-go/tools/cache", "informer is ours"},
	{"k8s.io/client-go/util/workqueue", "workqueue is ours"},
	{"k8s.io/client-go/kubernetes", "client is ours, by generics"},
	{"k8s.io/client-go/dynamic", "client is ours"},
	{"k8s.io/client-go/informers", "informer is ours"},
	{"k8s.io/client-go/listers", "informer's store lists"},
	{"sigs.k8s.io/controller-runtime", "a peer: for tests only"},
	{"fairlead.dev/internal/codec/fastjson", "internal/codec is the entry, with the fallback to upstream's codecs"},
	{"fairlead.dev/internal/codec/fastproto", "internal/codec is the entry, with the fallback to upstream's codecs"},
	{"text/template", "it calls methods by name, so the linker keeps all of them: github.com/DataDog/datadog-agent/pkg/template/text does not"},
	{"html/template", "it is made of text/template"},
}

// excused are folders that may import a banned package, each with its reason.
var excused = []struct{ dir, prefix, reason string }{
	{"internal/codec", "fairlead.dev/internal/codec/fastjson", "the entry"},
	{"internal/codec", "fairlead.dev/internal/codec/fastproto", "the entry"},
	{"internal/server/managed", "fairlead.dev/internal/codec/fastjson", "compares objects member by member"},
	{"internal/controlplane/controlplanetest", "k8s.io/client-go/kubernetes", "only tests import it, as clients that use client-go"},
	{"internal/server/admission/expr", "k8s.io/apiserver/pkg", "CEL as Kubernetes extends it (types, libraries, costs), and the interfaces these ask through"},
	{"internal/server/admission/config", "k8s.io/apiserver/pkg", "the kinds of the configuration files of admission"},
	{"internal/server/admission/imagepolicy", "k8s.io/apiserver/pkg/util/webhook", "the client of a webhook that a kubeconfig names, with its retries"},
	{"internal/server/admission/webhook", "k8s.io/apiserver/pkg/util/webhook", "chooses the credentials for a webhook from a kubeconfig"},
	{"internal/server/auth/bootstrap", "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap", "the FlowSchemas and priority levels that a cluster has"},
	{"internal/resource/flowcontrol", "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap", "the specs that mandatory objects must have"},
	{"internal/server/fairness", "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap", "the mandatory FlowSchemas and priority levels"},
	{"internal/server/auth/token", "k8s.io/apiserver/pkg/authentication/token/tokenfile", "the format of token files"},
	{"internal/server/auth/upstream", "k8s.io/apiserver/pkg", "the types that upstream's libraries take"},
	{"internal/server/audit", "k8s.io/apiserver", "the policy, the events and the backends of the audit log, which are formats and no machinery"},
	{"internal/auditroles", "k8s.io/apiserver/pkg/apis/audit", "the format of audit events"},
	{"internal/apiserverconfig", "k8s.io/apiserver/pkg/apis/apiserver/install", "the formats of configuration files"},
	{"internal/server/auth/chain", "k8s.io/apiserver/pkg", "the format of AuthorizationConfigurations, and their rules"},
	{"internal/server/auth/jwt", "k8s.io/apiserver", "the format of AuthenticationConfigurations, and the verification of OpenID Connect tokens"},
	{"internal/server/spans", "k8s.io/apiserver/pkg", "the format of TracingConfigurations, and their rules"},
	{"internal/server/auth/webhook", "k8s.io/apiserver", "the clients of the webhooks of authentication and authorization, and the types they ask with"},
	{"internal/storage/encryption", "k8s.io/apiserver/pkg/storage/value", "encrypts and decrypts values, and stores nothing"},
	{"internal/storage/encryption", "k8s.io/apiserver/pkg/server/options/encryptionconfig", "reads an EncryptionConfiguration, and keeps the data keys of KMS plugins"},
	{"internal/storage/encryption", "k8s.io/apiserver/pkg/server/healthz", "the type of the health checks of KMS plugins"},
	{"internal/celcheck", "k8s.io/apiserver/pkg/cel", "CEL as Kubernetes extends it, and schemas as its types"},
	{"internal/resource/dynamicresources", "k8s.io/apiserver/pkg", "selectors of devices are CEL as Kubernetes extends it"},
	{"internal/resource/custom", "k8s.io/apiserver/pkg/cel", "upstream's schema packages, a library here, speak of CEL in its types"},
	{"internal/resource/custom", "k8s.io/apiserver/pkg/apis", "the limits of what CEL may cost"},
	{"internal/resource/custom", "k8s.io/apiserver/pkg/warning", "how upstream's rules tell of what they let be"},
	{"internal/resource/apiextensions", "k8s.io/apiserver/pkg/cel", "the version whose formats are known"},
}

func isExcused(dir, imported string) bool {
	for _, e := range excused {
		if dir == e.dir && (imported == e.prefix || strings.HasPrefix(imported, e.prefix+"/")) {
			return true
		}
	}
	return false
}

type source struct {
	dir, file string
	imports   []string
	test      bool
	doc       bool
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != "." && (nested == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{
			dir:  filepath.ToSlash(filepath.Dir(path)),
			file: filepath.ToSlash(path),
			test: strings.HasSuffix(path, "_test.go"),
			doc:  f.Doc != nil,
		}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// floor finds the floor of a folder and the room it belongs to.
func floor(dir string) (room string, n int, ok bool) {
	for at := dir; at != "."; at = filepath.ToSlash(filepath.Dir(at)) {
		if n, ok := floors[at]; ok {
			return at, n, true
		}
	}
	return "", 0, false
}

func within(dir string, rooms []string) bool {
	return slices.ContainsFunc(rooms, func(room string) bool {
		return dir == room || strings.HasPrefix(dir, room+"/")
	})
}

func TestImportsGoDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.dir == "." || strings.HasPrefix(s.dir, "examples/") {
			continue
		}
		room, from, ok := floor(s.dir)
		if !ok {
			t.Errorf("%s: the folder %s stands on no floor: give it one in arch_test.go", s.file, s.dir)
			continue
		}
		for _, i := range s.imports {
			dir, ours := strings.CutPrefix(i, module+"/")
			if !ours {
				continue
			}
			to, n, ok := floor(dir)
			if !ok {
				t.Errorf("%s imports %s, which stands on no floor", s.file, i)
				continue
			}
			if to != room && n >= from {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports go down", s.file, from, i, n)
			}
		}
	}
}

func TestImportsGoDownInsideRooms(t *testing.T) {
	folder := func(dir string) (room, name string) {
		room, _, _ = floor(dir)
		if inside[room] == nil {
			return "", ""
		}
		for name = strings.TrimPrefix(dir, room+"/"); path.Dir(name) != "."; name = path.Dir(name) {
			if _, own := inside[room][name]; own {
				break
			}
		}
		return room, name
	}
	for _, s := range sources(t) {
		room, from := folder(s.dir)
		if room == "" || s.test {
			continue
		}
		n, ok := inside[room][from]
		if !ok {
			t.Errorf("%s: the folder %s stands on no floor: give it one in arch_test.go", s.file, s.dir)
		}
		for _, i := range s.imports {
			dir, ours := strings.CutPrefix(i, module+"/")
			toRoom, to := folder(dir)
			if ours && toRoom == room && to != from && inside[room][to] >= n {
				t.Errorf("%s (floor %d of %s) imports %s (floor %d): imports go down", s.file, n, room, i, inside[room][to])
			}
		}
	}
}

func TestTheWireIsTheOnlyBond(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, i := range s.imports {
			dir, ours := strings.CutPrefix(i, module+"/")
			if !ours {
				continue
			}
			if within(s.dir, clientSide) && within(dir, serverSide) {
				t.Errorf("%s is on the client's side and imports %s of the server's", s.file, i)
			}
			if within(s.dir, serverSide) && within(dir, clientSide) {
				t.Errorf("%s is on the server's side and imports %s of the client's", s.file, i)
			}
		}
	}
}

// TestOneDialer: the API server connects to others only by internal/server/reach, which
// sends nothing to simulated addresses; any other dialer would bypass that.
func TestOneDialer(t *testing.T) {
	dials := map[string][]string{
		"net":        {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "Dialer"},
		"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
		"net/http":   {"DefaultClient", "DefaultTransport", "Get", "Post", "PostForm", "Head", "Transport"},
	}
	exempt := []string{"internal/server/reach", "internal/server/h2", "internal/server/transcript"} // transcript is for tests
	for _, s := range sources(t) {
		if s.test || slices.Contains(exempt, s.dir) || !within(s.dir, []string{"server", "internal/server", "internal/controlplane"}) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), s.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.StarExpr: // a named type does not dial
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && slices.Contains(dials[imported(f, x.Name)], n.Sel.Name) {
					t.Errorf("%s uses %s.%s: the server connects by internal/server/reach", s.file, x.Name, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestUnsafeInOneRoom: internal/rawmem is the only package that goes around Go's types, and has the tests for that.
// Some of reflect's functions do the same without the import.
func TestUnsafeInOneRoom(t *testing.T) {
	around := []string{"NewAt", "UnsafeAddr", "UnsafePointer"}
	for _, s := range sources(t) {
		if s.dir == "internal/rawmem" || strings.HasSuffix(s.file, ".pb.go") { // protoc-gen-go passes descriptors by unsafe
			continue
		}
		if slices.Contains(s.imports, "unsafe") {
			t.Errorf("%s imports unsafe: use internal/rawmem", s.file)
		}
		if s.test || !slices.Contains(s.imports, "reflect") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), s.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && slices.Contains(around, x.Sel.Name) {
				t.Errorf("%s uses %s: use internal/rawmem", s.file, x.Sel.Name)
			}
			return true
		})
	}
}

// imported is the path of the package that a file knows by a name.
func imported(f *ast.File, name string) string {
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err == nil && (i.Name != nil && i.Name.Name == name || i.Name == nil && path.Base(p) == name) {
			return p
		}
	}
	return ""
}

func TestControllersDoNotKnowOneAnother(t *testing.T) {
	shared := func(dir string) bool { // shared parts of several controllers
		return dir == "internal/controllers/served" || dir == "internal/controllers/bootstraptoken" || dir == "internal/controllers/cabundle" || dir == "internal/controllers/intree" ||
			dir == "internal/controllers/podcontrol" || strings.HasPrefix(dir, "internal/controllers/podcontrol/")
	}
	for _, s := range sources(t) {
		if s.test || !strings.HasPrefix(s.dir, "internal/controllers/") {
			continue
		}
		for _, i := range s.imports {
			dir, ours := strings.CutPrefix(i, module+"/")
			if ours && strings.HasPrefix(dir, "internal/controllers/") && !strings.HasPrefix(dir, s.dir) && !shared(dir) {
				t.Errorf("%s imports %s: controllers meet only in the API", s.file, i)
			}
		}
	}
}

func TestBannedImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, i := range s.imports {
			for _, b := range bans {
				if (i == b.prefix || strings.HasPrefix(i, b.prefix+"/")) && !isExcused(s.dir, i) {
					t.Errorf("%s imports %s: %s", s.file, i, b.reason)
				}
			}
		}
	}
}

func TestEachPackageHasOneDoc(t *testing.T) {
	docs := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if _, ok := docs[s.dir]; !ok {
			docs[s.dir] = nil
		}
		if s.doc {
			docs[s.dir] = append(docs[s.dir], s.file)
		}
	}
	dirs := make([]string, 0, len(docs))
	for dir := range docs {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		if n := len(docs[dir]); n != 1 {
			t.Errorf("%s has %d package comments, want one: %v", dir, n, docs[dir])
		}
	}
}
