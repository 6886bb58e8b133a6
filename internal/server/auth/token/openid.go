package token

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// Paths at which others learn how to verify an issuer's tokens.
const (
	ConfigurationPath = "/.well-known/openid-configuration"
	KeysPath          = "/openid/v1/jwks"
)

type configuration struct {
	Issuer        string   `json:"issuer"`
	KeysURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// Handler serves ConfigurationPath and KeysPath. keysURI is where clients find the keys, which may be another server.
func (i *Issuer) Handler(keysURI string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ConfigurationPath, i.document("application/json", func(keys []jose.JSONWebKey) any {
		c := configuration{Issuer: i.url, KeysURI: keysURI, ResponseTypes: []string{"id_token"}, SubjectTypes: []string{"public"}}
		for _, k := range keys {
			c.Algorithms = append(c.Algorithms, k.Algorithm)
		}
		slices.Sort(c.Algorithms)
		c.Algorithms = slices.Compact(c.Algorithms)
		return c
	}))
	mux.HandleFunc("GET "+KeysPath, i.document("application/jwk-set+json", func(keys []jose.JSONWebKey) any {
		return jose.JSONWebKeySet{Keys: keys}
	}))
	return mux
}

// document serves a document about the keys that others may know.
func (i *Issuer) document(contentType string, of func([]jose.JSONWebKey) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		keys := []jose.JSONWebKey{}
		for _, k := range i.signer.Keys(r.Context(), "") {
			if alg, err := algorithm(k.Public); err == nil && !k.Hidden {
				keys = append(keys, jose.JSONWebKey{Key: k.Public, KeyID: k.ID, Algorithm: string(alg), Use: "sig"})
			}
		}
		body, err := json.Marshal(of(keys))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(i.signer.MaxAge().Seconds())))
		w.Write(body)
	}
}
