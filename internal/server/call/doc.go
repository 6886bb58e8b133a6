// Package call holds a request to the API and its response, as the verbs of packages read,
// write and subresource see them: the RequestInfo of the path, the user, the options, the
// endpoint, the negotiated representation, and the ways to answer.
//
// A [Call] belongs to the goroutine that serves its request. A verb answers it or returns an
// error, which the server turns into a metav1.Status. A verb that returns endpoint.ErrRedefined
// has not answered and is called again.
package call
