package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStart measures a start on an empty data directory: from exec to the
// first ok of /readyz over TLS (ready-ms), the resident memory of the whole
// control plane with its three nodes once it is idle (idle-MB), and the size of
// the binary (binary-MB).
//
//	go test ./e2e -run '^$' -bench Start -benchtime 10x
func BenchmarkStart(b *testing.B) {
	var ready time.Duration
	var resident float64
	for range b.N {
		// A fixed port of its own, so that the client can ask before the port is printed.
		address := "127.0.0.1:16443"
		dir := b.TempDir()
		cmd := exec.Command(bin.fairlead, "up", "--data-dir", dir, "--listen", address)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		waitReady(b, address, dir)
		ready += time.Since(began)
		// Idle is when a garbage collection has freed the garbage of the start;
		// the runtime forces one after two minutes, so the figure right after the
		// nodes are up is the upper end.
		time.Sleep(3 * time.Second)
		resident += residentMB(b, cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(bin.fairlead)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(ready.Milliseconds())/float64(b.N), "ready-ms")
	b.ReportMetric(resident/float64(b.N), "idle-MB")
	b.ReportMetric(float64(info.Size())/(1<<20), "binary-MB")
}

func waitReady(b *testing.B, address, dir string) {
	for {
		pool := x509.NewCertPool()
		if pem, err := os.ReadFile(dir + "/ca.crt"); err == nil && pool.AppendCertsFromPEM(pem) {
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
			resp, err := client.Get("https://" + address + "/readyz")
			if err == nil {
				resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					return
				}
			}
			client.CloseIdleConnections()
		}
		time.Sleep(time.Millisecond)
	}
}

func residentMB(b *testing.B, pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("no /proc here: ", err)
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
