package token_test

import (
	"context"
	"testing"

	"fairlead.dev/internal/server/auth/token"
)

// BenchmarkVerify verifies a token that was verified before, the usual case.
func BenchmarkVerify(b *testing.B) {
	w, _, accounts := start(b)
	out, _, err := accounts.Request(context.Background(), w, "shop", "till", request(toPod, 3600), false, noWarning)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := accounts.Verify(context.Background(), out.Status.Token, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerifyFirst includes the signature.
func BenchmarkVerifyFirst(b *testing.B) {
	w, issuer, accounts := start(b)
	out, _, err := accounts.Request(context.Background(), w, "shop", "till", request(toPod, 3600), false, noWarning)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := token.NewAccounts(issuer, []string{url}, token.LivingIn(w)).Verify(context.Background(), out.Status.Token, nil); err != nil {
			b.Fatal(err)
		}
	}
}
