//go:build linux

package realnode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/kubernetes/test/utils/image"
)

// debianPackages are those of the images that have a Debian: the programs of upstream's agnhost, and
// nginx.
const debianPackages = "bind9-dnsutils,curl,netcat-openbsd,iproute2,iperf,bash,util-linux,nginx-light,ca-certificates,iputils-ping"

// corednsImage is the name of CoreDNS's image.
func (k kit) corednsImage() string { return "registry.k8s.io/coredns/coredns:" + k.coredns }

func (k kit) pauseImage() string { return image.GetE2EImage(image.Pause) }

// makeImages writes the images that upstream's e2e tests ask for, and CoreDNS's, into a layout.
func (k kit) makeImages(dir string, log Log) error {
	l, err := newLayout(dir)
	if err != nil {
		return err
	}
	log("installing a small Debian for images")
	debian, err := k.debianLayer(l)
	if err != nil {
		return err
	}
	log("writing images")
	busybox, err := busyboxLayer(l)
	if err != nil {
		return err
	}
	bin := func(name string) string { return filepath.Join(k.bin(), name) }
	var failed error
	layer := func(entries ...entry) ociDescriptor {
		made, err := l.files(entries)
		if err != nil && failed == nil {
			failed = err
		}
		return made
	}
	add := func(names []string, config imageConfig, layers ...ociDescriptor) {
		if err := l.image(names, config, layers...); err != nil && failed == nil {
			failed = err
		}
	}
	e2e := func(ids ...image.ImageID) (names []string) {
		for _, id := range ids {
			names = append(names, image.GetE2EImage(id))
		}
		return names
	}

	add(e2e(image.Pause), imageConfig{User: "65535:65535", Entrypoint: []string{"/pause"}}, layer(entry{path: "pause", from: bin("pause")}))
	add(e2e(image.BusyBox), imageConfig{Cmd: []string{"sh"}}, busybox)
	add(e2e(image.NonRoot), imageConfig{User: "1234", Cmd: []string{"sh"}}, busybox)
	add(e2e(image.Nonewprivs), imageConfig{Cmd: []string{"nnp"}}, busybox, layer(entry{path: "usr/local/bin/nnp", from: bin("nnp"), mode: 0o6755}))
	add(e2e(image.APIServer), imageConfig{Entrypoint: []string{"/sample-apiserver"}}, busybox, layer(entry{path: "sample-apiserver", from: bin("sample-apiserver")}))
	add(e2e(image.Etcd), imageConfig{Cmd: []string{"etcd"}}, busybox, layer(entry{path: "usr/local/bin/etcd", from: bin("etcd")}))
	add([]string{k.corednsImage()}, imageConfig{Entrypoint: []string{"/coredns"}}, layer(entry{path: "coredns", from: bin("coredns")}))

	upstream, err := output(filepath.Join(k.source, ".."), "go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	if err != nil {
		return err
	}
	ports := map[string]struct{}{"80/tcp": {}, "8080/tcp": {}, "8081/tcp": {}, "9376/tcp": {}, "5000/tcp": {}}
	agnhost := layer(
		entry{path: "agnhost", from: bin("agnhost")},
		entry{path: "agnhost-2", link: "agnhost"},
		entry{path: "uploads/"},
		entry{path: "localhost.crt", from: filepath.Join(upstream, "test/images/agnhost/porter/localhost.crt"), mode: 0o644},
		entry{path: "localhost.key", from: filepath.Join(upstream, "test/images/agnhost/porter/localhost.key"), mode: 0o644},
		entry{path: "etc/passwd", text: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\nuser-defined-in-image:x:1000:1000::/home/user-defined-in-image:/bin/sh\n"},
		entry{path: "etc/group", text: "root:x:0:\nnogroup:x:65534:\nuser-defined-in-image:x:1000:\ngroup-defined-in-image:x:50000:user-defined-in-image\n"},
	)
	add(e2e(image.Agnhost, image.AgnhostPrev, image.GlibcDnsTesting), imageConfig{Entrypoint: []string{"/agnhost"}, Cmd: []string{"pause"}, ExposedPorts: ports}, debian, agnhost)
	for name, id := range map[string]image.ImageID{"kitten": image.Kitten, "nautilus": image.Nautilus} {
		html := filepath.Join(upstream, "test/images", name, "html")
		add(e2e(id), imageConfig{Entrypoint: []string{"/agnhost"}, Cmd: []string{"test-webserver"}, ExposedPorts: ports}, debian, agnhost, layer(
			// Upstream's image is an Alpine Linux, and a test of image volumes reads its name here.
			entry{path: "usr/lib/os-release", text: "NAME=\"Debian in place of Alpine Linux\"\nID=debian\n"},
			entry{path: "data.json", from: filepath.Join(html, "data.json"), mode: 0o644},
			entry{path: name + ".jpg", from: filepath.Join(html, name+".jpg"), mode: 0o644},
		))
	}
	nginx := []entry{
		{path: "etc/nginx/sites-enabled/default", text: "server { listen 80 default_server; root /usr/share/nginx/html; index index.html; }\n"},
		{path: "usr/share/nginx/html/index.html", text: "<html><head><title>Welcome to nginx!</title></head><body><h1>Welcome to nginx!</h1></body></html>\n"},
		{path: "var/log/nginx/access.log", link: "/dev/stdout"},
		{path: "var/log/nginx/error.log", link: "/dev/stderr"},
	}
	run := imageConfig{Cmd: []string{"nginx", "-g", "daemon off;"}, ExposedPorts: map[string]struct{}{"80/tcp": {}}}
	add(e2e(image.Nginx), run, debian, layer(nginx...))
	add(e2e(image.NginxNew), run, debian, layer(append(nginx, entry{path: "etc/new", text: "another image than the old one\n"})...))
	if failed != nil {
		return failed
	}
	return l.close()
}

// debianLayer installs a Debian by the host's own mirror.
func (k kit) debianLayer(l *layout) (ociDescriptor, error) {
	mirrors, err := output("", "apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)")
	if err != nil {
		return ociDescriptor{}, err
	}
	mirror, suite, ok := strings.Cut(strings.SplitN(mirrors, "\n", 2)[0], " ")
	if !ok {
		return ociDescriptor{}, fmt.Errorf("apt-get knows no mirror of Debian: run apt-get update")
	}
	root, err := os.MkdirTemp(k.dir, "debian")
	if err != nil {
		return ociDescriptor{}, err
	}
	defer os.RemoveAll(root)
	if err := os.Chmod(root, 0o755); err != nil {
		return ociDescriptor{}, err
	}
	cmd := exec.Command("debootstrap", "--variant=minbase", "--include="+debianPackages, suite, root, mirror)
	if out, err := cmd.CombinedOutput(); err != nil {
		return ociDescriptor{}, fmt.Errorf("debootstrap: %w\n%s", err, out)
	}
	return l.folder(root, func(name string) bool {
		for _, unused := range []string{"dev", "proc", "sys", "var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"} {
			if strings.HasPrefix(name, unused+"/") {
				return true
			}
		}
		return false
	})
}

// busyboxLayer is Debian's busybox. Where upstream's image has one shell, this has two: the
// one at /bin/sh has busybox's messages, and the one that is found on PATH (bash) keeps
// variables with dashes in their names, which Debian's busybox drops.
func busyboxLayer(l *layout) (ociDescriptor, error) {
	applets, err := output("", "/bin/busybox", "--list")
	if err != nil {
		return ociDescriptor{}, err
	}
	entries := []entry{
		{path: "bin/busybox", from: "/bin/busybox"},
		{path: "usr/local/bin/sh", from: "/bin/bash-static"},
		{path: "usr/bin", link: "../bin"},
		{path: "sbin", link: "bin"},
		{path: "tmp/", mode: 0o1777},
		{path: "var/tmp/", mode: 0o1777},
		{path: "root/"}, {path: "home/"}, {path: "dev/"}, {path: "proc/"}, {path: "sys/"},
		{path: "etc/passwd", text: "root:x:0:0:root:/root:/bin/sh\nbin:x:1:1:bin:/bin:/bin/false\nnobody:x:65534:65534:nobody:/home:/bin/false\n"},
		{path: "etc/group", text: "root:x:0:\nbin:x:1:\nusers:x:100:\nnogroup:x:65534:\n"},
	}
	for applet := range strings.FieldsSeq(applets) {
		if applet != "busybox" {
			entries = append(entries, entry{path: "bin/" + applet, link: "busybox"})
		}
	}
	// Name look-ups of a static program load glibc's libraries.
	for _, library := range []string{"libc.so.6", "libresolv.so.2"} {
		found, err := filepath.Glob("/lib/*-linux-gnu/" + library)
		if err != nil || len(found) == 0 {
			return ociDescriptor{}, fmt.Errorf("no %s on this machine: %v", library, err)
		}
		entries = append(entries, entry{path: strings.TrimPrefix(found[0], "/"), from: found[0]})
	}
	loaders, err := filepath.Glob("/lib*/ld-linux-*.so.*")
	if err != nil {
		return ociDescriptor{}, err
	}
	for _, loader := range loaders {
		entries = append(entries, entry{path: strings.TrimPrefix(loader, "/"), from: loader})
	}
	return l.files(entries)
}
