package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
)

// instance is a server in the output of `fairlead list -o json`.
type instance struct {
	Name, State, Server, Version, DataDir, Kubeconfig, Context, Log string

	Ready, InMemory bool
	PID             int
	Nodes           *int
}

// newUser makes a home directory for the test, and an empty directory to work in. At the end no server is left.
func newUser(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	for _, unset := range []string{"XDG_STATE_HOME", "KUBECONFIG", "FAIRLEAD_NAME"} {
		t.Setenv(unset, "")
	}
	t.Chdir(t.TempDir())
	t.Cleanup(func() {
		out, err := exec.Command(bin.fairlead, "list", "-o", "json").Output()
		var list struct{ Instances []instance }
		if err == nil {
			err = json.Unmarshal(out, &list)
		}
		if err != nil {
			t.Errorf("list: %v", err)
		}
		for _, i := range list.Instances {
			if i.State != "stopped" {
				syscall.Kill(i.PID, syscall.SIGKILL)
			}
		}
	})
	return home
}

// instances returns all servers of the user.
func instances(t *testing.T) []instance {
	t.Helper()
	return parse[struct{ Instances []instance }](t, fairlead(t, "list", "-o", "json")).Instances
}

// background starts a server in the background.
func background(t *testing.T, args ...string) *process {
	t.Helper()
	r := fairlead(t, append([]string{"up", "-d", "-o", "json"}, args...)...)
	p := parse[process](t, r)
	p.t, p.stderr = t, new(output)
	return &p
}

// state returns the state that status prints.
func state(t *testing.T, args ...string) instance {
	t.Helper()
	r := fairlead(t, append([]string{"status", "-o", "json"}, args...)...)
	var i instance
	if err := json.Unmarshal([]byte(r.out), &i); err != nil || (r.code == 0) != i.Ready {
		t.Fatalf("fairlead %s: exit %d, %v in %q\n%s", r.line, r.code, err, r.out, r.errs)
	}
	return i
}

// kubeContexts returns the contexts of a kubeconfig, and the current one.
func kubeContexts(t *testing.T, path string) (names map[string]string, current string) {
	t.Helper()
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names = map[string]string{}
	for name, c := range config.Contexts {
		if config.Clusters[c.Cluster] == nil || config.AuthInfos[c.AuthInfo] == nil {
			t.Errorf("the context %s has no cluster or no user", name)
			continue
		}
		names[name] = config.Clusters[c.Cluster].Server
	}
	return names, config.CurrentContext
}

// A server in the background of a directory: started, found, read, stopped, started again with its objects.
func TestBackground(t *testing.T) {
	home := newUser(t)
	mine := filepath.Join(home, ".kube", "config")
	r := fairlead(t, "up", "-d")
	if r.code != 0 || r.out != "" {
		t.Fatalf("exit %d, %q\n%s", r.code, r.out, r.errs)
	}
	expect(t, "up -d", r.errs, "✓ Store", "✓ API server", "✓ Nodes", "Context      fairlead in "+mine, "Ready in", "kubectl get nodes", "/ui/login#", "`fairlead down` stops it", ".fairlead")
	all := instances(t)
	if len(all) != 1 {
		t.Fatalf("list: %+v", all)
	}
	here := all[0]
	if dir, _ := os.Getwd(); here.State != "running" || !here.Ready || here.Name != "" || here.DataDir != filepath.Join(dir, ".fairlead") || here.Context != "fairlead" || here.Version == "" {
		t.Errorf("list: %+v", here)
	}
	expect(t, "list", fairlead(t, "list").out, "NAME", "STATE", "running", here.Server, here.DataDir)
	expect(t, "status", fairlead(t, "status").out, "running for", here.Server, here.DataDir, here.Log, strconv.Itoa(here.PID))
	if names, current := kubeContexts(t, mine); names["fairlead"] != here.Server || current != "fairlead" {
		t.Errorf("contexts %v, current %q", names, current)
	}
	p := &process{t: t, stderr: new(output), Kubeconfig: mine}
	p.settled()
	p.kubectl("create", "configmap", "kept")
	eventually(t, "three nodes", func() bool { n := state(t).Nodes; return n != nil && *n == 3 })

	log := fairlead(t, "logs").out
	expect(t, "logs", log, "✓ API server", here.Server)
	if strings.Contains(log, "login#") {
		t.Errorf("the log has a login:\n%s", log)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(log, "\n"), "\n")
	fairlead(t, "logs", "--tail=1").does(t, lines[len(lines)-1]+"\n")
	fairlead(t, "logs", "--tail=0").does(t, "")
	followed := exec.Command(bin.fairlead, "logs", "-f", "--tail=1")
	followed.Stderr = os.Stderr
	out, err := followed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := followed.Start(); err != nil {
		t.Fatal(err)
	}
	tail := bufio.NewReader(out)
	if line, err := tail.ReadString('\n'); err != nil || line != lines[len(lines)-1]+"\n" {
		t.Errorf("logs -f: %q, %v", line, err)
	}

	expect(t, "down", fairlead(t, "down").errs, "✓ Stopped")
	rest, err := io.ReadAll(tail) // it ends with the server
	if err := errors.Join(err, followed.Wait()); err != nil {
		t.Error(err)
	}
	expect(t, "logs -f", string(rest), "Stopping")
	if c, err := net.Dial("tcp", strings.TrimPrefix(here.Server, "https://")); err == nil {
		c.Close()
		t.Errorf("%s is open after down", here.Server)
	}
	if got := state(t); got.State != "stopped" || got.PID != 0 {
		t.Errorf("after down: %+v", got)
	}
	expect(t, "status of a stopped server", fairlead(t, "status").errs, "is stopped: `fairlead up -d` starts it")
	expect(t, "down of a stopped server", fairlead(t, "down").errs, "was not running")

	p = background(t)
	p.kubectl("get", "configmap", "kept")
	expect(t, "delete", fairlead(t, "delete").errs, "✓ Stopped", "✓ Deleted")
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("after delete: %v, %v", entries, err)
	}
	if names, current := kubeContexts(t, mine); len(names) > 0 || current != "" {
		t.Errorf("after delete: contexts %v, current %q", names, current)
	}
	fairlead(t, "status").fails(t, 1, "no server has its data in", "`fairlead up -d`")
}

// Servers with names run side by side, and are found from any directory. Contexts of others stay in the user's kubeconfig.
func TestNamedInstances(t *testing.T) {
	home := newUser(t)
	mine := filepath.Join(home, ".kube", "config")
	theirs := "apiVersion: v1\nkind: Config\ncurrent-context: work\nclusters:\n- name: work\n  cluster: {server: \"https://work.example\"}\n" +
		"contexts:\n- name: work\n  context: {cluster: work, user: me}\nusers:\n- name: me\n  user: {token: secret}\n"
	if err := os.MkdirAll(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	shop, bank := background(t, "--name=shop"), background(t, "--name=bank", "--in-memory", "--nodes=1")
	t.Chdir(t.TempDir())
	names, current := kubeContexts(t, mine)
	if names["fairlead-shop"] != shop.Server || names["fairlead-bank"] != bank.Server || names["work"] == "" || current != "fairlead-bank" {
		t.Errorf("contexts %v, current %q", names, current)
	}
	if all := instances(t); len(all) != 2 || all[0].Name != "bank" || all[1].Name != "shop" || !all[0].InMemory || all[1].State != "running" {
		t.Errorf("list: %+v", all)
	}
	shop.settled()
	shop.kubectl("create", "configmap", "only-in-shop")
	p := &process{t: t, stderr: new(output), Kubeconfig: mine}
	p.kubectl("--context=fairlead-shop", "get", "configmap", "only-in-shop")
	p.kubectlFails("--context=fairlead-bank", "get", "configmap", "only-in-shop")

	// A client command finds a server by its name.
	expect(t, "why --name", fairlead(t, "why", "configmap/only-in-shop", "--name=shop").out, "only-in-shop")
	t.Setenv("FAIRLEAD_NAME", "shop")
	expect(t, "why with FAIRLEAD_NAME", fairlead(t, "why", "configmap/only-in-shop").out, "only-in-shop")
	if got := state(t); got.Name != "shop" {
		t.Errorf("status with FAIRLEAD_NAME: %+v", got)
	}
	t.Setenv("FAIRLEAD_NAME", "")
	for line, want := range map[string]string{
		"ui --name=shop":         shop.Server + "/ui/login#",
		"token list --name=shop": "",
	} {
		if r := fairlead(t, strings.Fields(line)...); r.code != 0 || !strings.HasPrefix(r.out, want) {
			t.Errorf("%s: exit %d, %q\n%s", line, r.code, r.out, r.errs)
		}
	}

	// Stopped, the one on disk stays with its context, and gets its port again; the one in memory goes.
	for _, name := range []string{"shop", "bank"} {
		if r := fairlead(t, "down", name); r.code != 0 {
			t.Errorf("down %s: exit %d\n%s", name, r.code, r.errs)
		}
	}
	if names, current = kubeContexts(t, mine); len(names) != 2 || names["fairlead-shop"] == "" || current != "" {
		t.Errorf("after down: contexts %v, current %q", names, current)
	}
	if all := instances(t); len(all) != 1 || all[0].Name != "shop" || all[0].State != "stopped" {
		t.Errorf("after down: %+v", all)
	}
	fairlead(t, "why", "--name=shop").fails(t, 1, "shop is not running", "`fairlead up --name=shop`")
	other := background(t, "--name=other") // takes the first free port, which is shop's, unless others of this machine have it
	fairlead(t, "delete", "other")
	if again := background(t, "--name=shop"); again.Server != shop.Server {
		t.Errorf("shop had %s, and has %s after a restart", shop.Server, again.Server)
	}
	shop.kubectl("get", "configmap", "only-in-shop")
	if other.Server != shop.Server {
		t.Logf("other had %s, shop %s", other.Server, shop.Server)
	}
	fairlead(t, "delete", "shop")
	if names, _ = kubeContexts(t, mine); len(names) != 1 || names["work"] != "https://work.example" {
		t.Errorf("after delete: contexts %v", names)
	}
	if all := instances(t); len(all) > 0 {
		t.Errorf("after delete: %+v", all)
	}
	if entries, err := os.ReadDir(filepath.Join(home, ".local", "state", "fairlead", "instances")); err != nil || len(entries) > 0 {
		t.Errorf("after delete: %v, %v", entries, err)
	}
}

// The user's kubeconfig is left alone if asked, and the server's own one is printed.
func TestBackgroundWithoutContext(t *testing.T) {
	home := newUser(t)
	r := fairlead(t, "up", "-d", "--name=quiet", "--in-memory", "--merge-kubeconfig=false")
	expect(t, "up -d", r.errs, "export KUBECONFIG="+home, "`fairlead down quiet` stops it")
	if _, err := os.Stat(filepath.Join(home, ".kube", "config")); !os.IsNotExist(err) {
		t.Errorf("the user's kubeconfig: %v", err)
	}
	expect(t, "down", fairlead(t, "down", "quiet").errs, "✓ Stopped")
}

// A server that is killed is stopped, also if another process has its ID by now. Its leftovers do not stop a new start.
func TestKilledInstance(t *testing.T) {
	home := newUser(t)
	for _, args := range [][]string{{"--name=a"}, {"--name=b", "--in-memory"}} {
		p := background(t, args...)
		p.settled()
		p.kubectl("create", "configmap", "kept")
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	eventually(t, "two ends", func() bool {
		all := instances(t)
		return len(all) == 2 && all[0].State == "stopped" && all[1].State == "stopped"
	})
	// This test has the process ID now.
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(home, ".local", "state", "fairlead", "instances", name, "instance", "record.json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var record map[string]any
		if err := json.Unmarshal(text, &record); err != nil {
			t.Fatal(err)
		}
		record["pid"] = os.Getpid()
		if text, err = json.Marshal(record); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := state(t, name); got.State != "stopped" {
			t.Errorf("status: %+v", got)
		}
		if r := fairlead(t, "down", name); r.code != 0 { // and this test goes on
			t.Errorf("down %s: exit %d\n%s", name, r.code, r.errs)
		}
	}
	if all := instances(t); len(all) != 1 || all[0].Name != "a" {
		t.Errorf("down leaves %+v", all)
	}
	if names, _ := kubeContexts(t, filepath.Join(home, ".kube", "config")); len(names) != 1 || names["fairlead-a"] == "" {
		t.Errorf("contexts: %v", names)
	}
	p := background(t, "--name=a")
	p.kubectl("get", "configmap", "kept")
	fairlead(t, "down", "a")
	p = background(t, "--name=b", "--in-memory")
	p.settled()
	p.kubectlFails("get", "configmap", "kept")
}

// A start that fails in the background prints the reason, exits with 1, and leaves no files.
func TestBackgroundFails(t *testing.T) {
	home := newUser(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := "--listen=" + l.Addr().String()
	for _, args := range [][]string{{taken}, {taken, "--in-memory"}, {taken, "--name=x"}} {
		r := fairlead(t, append([]string{"up", "-d"}, args...)...)
		r.fails(t, 1, "fairlead: "+l.Addr().String()+" is taken by another process")
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if entries, err := os.ReadDir(filepath.Join(home, ".local", "state", "fairlead", "instances")); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if all := instances(t); len(all) > 0 {
		t.Errorf("left behind: %+v", all)
	}

	// In use, by a server in the background or in the foreground.
	first := background(t)
	fairlead(t, "up", "-d").fails(t, 1, ".fairlead is in use", "`fairlead down`")
	fairlead(t, "up").fails(t, 1, ".fairlead is in use", "`fairlead down`")
	first.kubectl("get", "namespaces")
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"--in-memory"}} {
		p := up(t, dir, args...)
		fairlead(t, "up", "-d", "--data-dir", dir).fails(t, 1, dir+" is in use", "`fairlead down --data-dir="+dir+"`")
		fairlead(t, "up", "--in-memory", "--data-dir", dir).fails(t, 1, dir+" is in use")
		fairlead(t, "logs", "--data-dir", dir).fails(t, 1, "its log is on its terminal")
		p.kubectl("get", "namespaces")
		p.stop()
	}
	background(t, "--name=x")
	fairlead(t, "up", "-d", "--name=x").fails(t, 1, "x is running already", "`fairlead down x`")

	// The log of a failed start of a stopped server is kept.
	fairlead(t, "down", "x")
	fairlead(t, "up", "-d", "--name=x", taken).fails(t, 1, "taken")
	expect(t, "logs", fairlead(t, "logs", "x").out, "taken by another process")

	t.Chdir(t.TempDir())
	if err := os.WriteFile("thesis.tex", []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	fairlead(t, "up", "-d", "--data-dir=.").fails(t, 1, "thesis.tex")
	fairlead(t, "delete", "--data-dir=.").fails(t, 1, "no server has its data in")
}

// A foreground server is managed like one in the background. An ended one in memory leaves no files.
func TestForegroundInstance(t *testing.T) {
	newUser(t)
	disk, memory := t.TempDir(), t.TempDir()
	first, second := up(t, disk), up(t, memory, "--in-memory")
	if all := instances(t); len(all) != 2 || all[0].State != "running" || all[0].Context != "" || all[0].Log != "" {
		t.Errorf("list: %+v", all)
	}
	fairlead(t, "down", "--data-dir", disk)
	<-first.exited
	if first.err != nil {
		t.Errorf("exit: %v\n%s", first.err, first.stderr)
	}
	second.stop()
	if _, err := os.Stat(memory); !os.IsNotExist(err) {
		t.Errorf("an ended server in memory leaves %s", memory)
	}
	if all := instances(t); len(all) != 1 || all[0].DataDir != disk || all[0].State != "stopped" {
		t.Errorf("list: %+v", all)
	}
	if err := os.RemoveAll(disk); err != nil {
		t.Fatal(err)
	}
	if all := instances(t); len(all) > 0 {
		t.Errorf("a removed directory is listed: %+v", all)
	}
}

// A data directory whose path is too long for a socket has it elsewhere.
func TestInstanceInLongPath(t *testing.T) {
	newUser(t)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	background(t, "--data-dir", dir, "--in-memory")
	if got := state(t, "--data-dir", dir); got.State != "running" {
		t.Errorf("status: %+v", got)
	}
	if r := fairlead(t, "down", "--data-dir", dir); r.code != 0 {
		t.Errorf("down: exit %d\n%s", r.code, r.errs)
	}
	if all := instances(t); len(all) > 0 {
		t.Errorf("after down: %+v", all)
	}
}

// Names and their wrong uses.
func TestInstanceErrors(t *testing.T) {
	newUser(t)
	for line, want := range map[string]string{
		"up --name=Shop":                          `the name "Shop": a lowercase RFC 1123 label`,
		"up -d --name=a/b":                        `the name "a/b"`,
		"status a.b":                              `the name "a.b"`,
		"up --name=a --data-dir=b":                "--name and --data-dir exclude each other",
		"status a --data-dir=b":                   "a name and --data-dir exclude each other",
		"down a b":                                "takes the name of one server",
		"up -d --stdin":                           "--detach and --name exclude --parent-pid and --stdin",
		"up --name=a --parent-pid=1":              "--detach and --name exclude --parent-pid and --stdin",
		"list -o xml":                             "want json or yaml",
		"logs --tail=-5":                          "want a number of lines",
		"why --name=a --kubeconfig=" + os.DevNull: "--kubeconfig and --name exclude each other",
	} {
		fairlead(t, strings.Fields(line)...).fails(t, 2, "fairlead: ", want)
	}
	for line, want := range map[string]string{
		"status nope":     "there is no server \"nope\": `fairlead list` shows all",
		"down nope":       "there is no server",
		"delete nope":     "there is no server",
		"logs nope":       "there is no server",
		"why --name=nope": "there is no server",
		"why":             "no kubeconfig found: start a server here with `fairlead up`, or point KUBECONFIG or --kubeconfig at one",
	} {
		fairlead(t, strings.Fields(line)...).fails(t, 1, "fairlead: ", want)
	}
	fairlead(t, "list", "-o", "json").does(t, "{\"instances\":[]}\n")
	t.Setenv("HOME", "")
	fairlead(t, "up", "-d", "--name=a").fails(t, 1, "no home directory: set HOME or XDG_STATE_HOME")
	p := background(t, "--in-memory") // without a home, one of this directory works
	p.kubectl("get", "namespaces")
	if r := fairlead(t, "down"); r.code != 0 {
		t.Errorf("down: exit %d\n%s", r.code, r.errs)
	}
}

// The shell completes names of servers.
func TestCompletionOfInstances(t *testing.T) {
	newUser(t)
	for _, name := range []string{"one", "two"} {
		background(t, "--name="+name, "--in-memory", "--nodes=0")
	}
	for _, args := range []string{"status ", "down ", "delete ", "logs ", "up --name ", "why --name ", "cluster list --name ", "trace pods --name "} {
		r := fairlead(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if !strings.HasPrefix(r.out, "one\ntwo\n:4") {
			t.Errorf("%s: %q\n%s", args, r.out, r.errs)
		}
	}
	if r := fairlead(t, "__complete", "down", "one", ""); !strings.HasPrefix(r.out, ":4") {
		t.Errorf("down one: %q", r.out)
	}
}

// A client command uses the server of its directory before the user's own kubeconfig.
func TestServerOfDirectoryFirst(t *testing.T) {
	home := newUser(t)
	elsewhere := background(t, "--name=elsewhere", "--in-memory")
	link := func() string { return fairlead(t, "ui").out }
	expect(t, "ui", link(), elsewhere.Server)
	here := background(t, "--in-memory", "--merge-kubeconfig=false")
	expect(t, "ui", link(), here.Server)
	t.Setenv("KUBECONFIG", filepath.Join(home, ".kube", "config"))
	expect(t, "ui", link(), elsewhere.Server)
	if got := fairlead(t, "ui", "--kubeconfig="+here.Kubeconfig).out; !strings.HasPrefix(got, here.Server) {
		t.Errorf("ui --kubeconfig: %s", got)
	}
	if fmt.Sprint(here.Server) == elsewhere.Server {
		t.Error("two servers with one address")
	}
}
