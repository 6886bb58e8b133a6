package clients

import (
	"context"
	"fmt"
	"net/url"

	"fairlead.dev/client"
)

// Plain requests, for data without a Go type: here kubectl's table.
func Example_rest() {
	_, c, stop := plane()
	defer stop()
	answer, err := c.REST().Do(context.Background(), client.Request{
		Path:   "/api/v1/namespaces",
		Query:  url.Values{"fieldSelector": {"metadata.name=default"}},
		Accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
	})
	must(err)
	fmt.Println(answer.Code, answer.Header.Get("Content-Type"))
	// Output: 200 application/json
}
