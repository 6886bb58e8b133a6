package server_test

import (
	"context"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/server"
)

func TestReviews(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Reviews = map[schema.GroupResource]server.CreateFunc{
			{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"}: func(_ context.Context, r *server.CreateRequest) (runtime.Object, error) {
				out := r.Object.(*authorizationv1.SelfSubjectAccessReview)
				out.Status.Allowed = r.User.Name == "system:anonymous"
				return out, nil
			},
		}
	})
	reviews := "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	c.talk([]exchange{
		{send: "POST " + reviews, body: `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`, code: 201, want: []string{`"kind":"SelfSubjectAccessReview"`, `"allowed":true`}},
		{send: "GET " + reviews, code: 405},
		{send: "POST /apis/authorization.k8s.io/v1/subjectaccessreviews", body: `{}`, code: 405},
	})
}
