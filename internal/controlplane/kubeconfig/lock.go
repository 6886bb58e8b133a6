package kubeconfig

import (
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

// lockPatience is the time between attempts to take a lock, and their number: five seconds in all.
var lockPatience = wait.Backoff{Duration: 50 * time.Millisecond, Steps: 100}

// lock keeps kubectl and other clients of clientcmd from changing the file at path until unlock
// is called. The lock is theirs: a file beside it, which exists while it is held.
func lock(path string) (unlock func(), err error) {
	name := path + ".lock"
	err = retry.OnError(lockPatience, os.IsExist, func() error {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL, 0)
		if err != nil {
			return err
		}
		return f.Close()
	})
	if os.IsExist(err) {
		return nil, fmt.Errorf("%s is locked by another program: if there is none, remove %s", path, name)
	}
	if err != nil {
		return nil, err
	}
	return func() { os.Remove(name) }, nil
}
