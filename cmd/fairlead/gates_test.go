package main

import "testing"

func TestGates(t *testing.T) {
	for text, want := range map[string]string{
		"A=true":             "A=true",
		" A=true , B=true ,": "A=true,B=true",
		"A=true,A=false":     "",
		"":                   "",
		"A":                  "missing bool value for A",
		"C=true":             "unrecognized feature gate: C",
		"A=maybe":            `invalid value of A=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
	} {
		var a, b bool
		g := gates{"A": &a, "B": &b}
		got := ""
		if err := g.Set(text); err != nil {
			got = err.Error()
		} else {
			got = g.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
