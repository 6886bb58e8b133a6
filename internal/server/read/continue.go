package read

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/storage"
)

// token is a continue token: the list at revision rv continues at the key start. It has
// kube-apiserver's form, so a list begun at one server can continue at the other. An rv of -1
// continues at the present revision.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

// maxTokenBytes bounds the bytes of a token: more than any name in a path needs.
const maxTokenBytes = 64 << 10

// newToken returns the token of a list that has shown the keys below prefix up to last.
func newToken(prefix, last string, rev int64) string {
	data, err := json.Marshal(token{tokenVersion, rev, strings.TrimPrefix(last, prefix) + "\x00"})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// parseToken returns the last key shown and the revision to continue at, 0 for the present.
func parseToken(text, prefix string) (last string, rev storage.Revision, err error) {
	bad := func(why string) (string, storage.Revision, error) {
		return "", 0, apierrors.NewBadRequest("invalid continue token: " + why)
	}
	if len(text) > maxTokenBytes {
		return bad(fmt.Sprintf("continue key is not valid: it has more than %d bytes", maxTokenBytes))
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	var t token
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	switch {
	case err != nil:
		return bad(fmt.Sprintf("continue key is not valid: %v", err))
	case t.Version != tokenVersion:
		return bad(fmt.Sprintf("continue key is not valid: server does not recognize this encoded version %s", t.Version))
	case t.Revision == 0:
		return bad("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case t.Start == "":
		return bad("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	key := t.Start
	if !strings.HasPrefix(key, "/") {
		key = "/" + key
	}
	if path.Clean(key) != key {
		return bad(fmt.Sprintf("continue key is not valid: %s", t.Start))
	}
	if t.Revision < 0 {
		t.Revision = 0
	}
	return strings.TrimSuffix(prefix+key[1:], "\x00"), storage.Revision(t.Revision), nil
}

const (
	listExpired          = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
	listRevisionTooOld   = "The resourceVersion for the provided list is too old."
	continueWithRevision = "specifying resource version is not allowed when using continue"
)

// expiredPage returns the error for a token whose revision has been compacted. It has a token
// that continues at the present revision.
func expiredPage(prefix, last string) error {
	err := apierrors.NewResourceExpired(listExpired)
	err.ErrStatus.ListMeta.Continue = newToken(prefix, last, -1)
	return err
}
