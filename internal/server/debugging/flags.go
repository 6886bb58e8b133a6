package debugging

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// listFlags answers with the flags that can be changed.
func listFlags(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, "<!DOCTYPE html>\n<title>/debug/flags/</title>\n<p>Flags that PUT changes: <a href=\"/debug/flags/v\">v</a></p>\n")
}

// maxVerbosity is more than the length of any number in a body.
const maxVerbosity = 100

// verbosity sets the verbosity of the log to the number in the body. Its answers are those of kube-apiserver.
func verbosity(w http.ResponseWriter, r *http.Request, set func(v uint32) error) {
	answer := func(code int, text string) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(code)
		fmt.Fprintln(w, text)
	}
	if r.Method != http.MethodPut {
		answer(http.StatusNotAcceptable, "unsupported http method")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxVerbosity))
	if err != nil {
		answer(http.StatusBadRequest, "error reading request body: "+err.Error())
		return
	}
	text := strings.TrimSuffix(string(body), "\n")
	v, err := strconv.ParseUint(text, 10, 31)
	if err == nil {
		err = set(uint32(v))
	}
	if err != nil {
		answer(http.StatusBadRequest, err.Error())
		return
	}
	answer(http.StatusOK, "successfully set klog.logging.verbosity to "+text)
}
