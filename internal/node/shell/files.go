package shell

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

const maxFiles = 64 << 10 // bytes in all files and names of a container

// Files are the files of a container: those that commands have written, and the directories that its spec
// makes. A simulated container has no image, so that it has no others. Safe for concurrent use.
type Files struct {
	mu struct {
		sync.Mutex
		text  map[string]string
		dirs  map[string]bool
		size  int
		given map[string]bool // the directories of the spec: not in size, and never removed
	}
}

// NewFiles returns an empty file system. It has the directories that every image has.
func NewFiles() *Files { return &Files{} }

// commonDirs are directories that every image has.
var commonDirs = []string{"/", "/tmp", "/dev", "/var", "/var/tmp", "/run", "/etc", "/root"}

func (f *Files) addDir(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.dirs == nil {
		f.mu.dirs = map[string]bool{}
	}
	for name = path.Clean(name); name != "/" && !f.mu.dirs[name]; name = path.Dir(name) {
		f.grow(len(name) + 32)
		f.mu.dirs[name] = true
	}
}

func (f *Files) isDir(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.dirs[name] || f.mu.given[name] || slices.Contains(commonDirs, name)
}

func (f *Files) get(name string) (string, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, ok := f.mu.text[name]
	return text, ok
}

// put writes a file, or to its end.
func (f *Files) put(name, text string, appends bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old, ok := f.mu.text[name]
	if appends {
		text = old + text
	}
	if f.grow(len(text) - len(old)); !ok {
		f.grow(len(name) + 32)
	}
	if f.mu.text == nil {
		f.mu.text = map[string]string{}
	}
	f.mu.text[name] = text
}

// grow counts bytes; f.mu is held.
func (f *Files) grow(n int) {
	if f.mu.size += n; f.mu.size > maxFiles {
		f.mu.size -= n
		refuse("files that hold so much")
	}
}

// remove removes a file, or a directory with all that is in it. It reports whether there was one.
func (f *Files) remove(name string) (found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gone := func(n string) bool { return n == name || strings.HasPrefix(n, strings.TrimSuffix(name, "/")+"/") }
	maps.DeleteFunc(f.mu.text, func(n, text string) bool {
		if gone(n) {
			f.mu.size -= len(n) + 32 + len(text)
			found = true
		}
		return gone(n)
	})
	maps.DeleteFunc(f.mu.dirs, func(n string, _ bool) bool {
		if gone(n) {
			f.mu.size -= len(n) + 32
			found = true
		}
		return gone(n)
	})
	return found
}

// snapshot returns all files and directories.
func (f *Files) snapshot() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := maps.Clone(f.mu.text)
	for d := range f.mu.dirs {
		if all == nil {
			all = map[string]string{}
		}
		all[d+"/"] = ""
	}
	return all
}

// list returns the entries of a directory, sorted.
func (f *Files) list(dir string) (entries []fs.DirEntry) {
	seen := map[string]bool{}
	add := func(name string, isDir bool) {
		rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, "/")+"/")
		if first, _, deeper := strings.Cut(rest, "/"); ok && first != "" && !seen[first] {
			seen[first] = true
			entries = append(entries, entry{first, isDir || deeper})
		}
	}
	for _, d := range commonDirs {
		add(d, true)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for d := range f.mu.dirs {
		add(d, true)
	}
	for d := range f.mu.given {
		add(d, true)
	}
	for n := range f.mu.text {
		add(n, false)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// entry is an entry of a directory, for the expansion of patterns.
type entry struct {
	name  string
	isDir bool
}

func (e entry) Name() string { return e.name }
func (e entry) IsDir() bool  { return e.isDir }
func (e entry) Type() fs.FileMode {
	if e.isDir {
		return fs.ModeDir
	}
	return 0
}
func (e entry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// readDir lists a directory for the expansion of *. A prediction ends there, since the files of the image are not
// known.
func (sh *shell) readDir(name string) ([]fs.DirEntry, error) {
	if sh.recorder != nil {
		refuse("a pattern of files")
	}
	if name = sh.resolve(name); !sh.container.Files.isDir(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return sh.container.Files.list(name), nil
}

// readFile returns the text of a file. A prediction ends at one that the script has not written, since the image
// may have it.
func (sh *shell) readFile(name string) (string, bool) {
	if name = sh.resolve(name); name == "/dev/null" {
		return "", true
	}
	text, ok := sh.container.Files.get(name)
	if !ok && sh.recorder != nil {
		refuse("a file that the image may have")
	}
	return text, ok
}

// exists reports whether a file or a directory is there, with readFile's exception.
func (sh *shell) exists(name string) (isDir, ok bool) {
	if sh.container.Files.isDir(sh.resolve(name)) {
		return true, true
	}
	_, ok = sh.readFile(name)
	return false, ok
}

// create opens a file for writing.
func (sh *shell) create(name string, appends bool) (io.Writer, bool) {
	name = sh.resolve(name)
	switch name {
	case "/dev/null":
		return io.Discard, true
	case "/dev/stdout":
		return sh.stdout, true
	case "/dev/stderr":
		return sh.stderr, true
	}
	files := sh.container.Files
	if dir := path.Dir(name); files.isDir(name) || !files.isDir(dir) {
		if sh.recorder != nil {
			refuse("a directory that the image may have")
		}
		sh.complain(1, "sh: can't create %s: nonexistent directory\n", name)
		return nil, false
	}
	files.put(name, "", appends)
	return fileWriter{files, name}, true
}

type fileWriter struct {
	files *Files
	name  string
}

func (w fileWriter) Write(p []byte) (int, error) {
	w.files.put(w.name, string(p), true)
	return len(p), nil
}
