package main

import (
	"os"
	"testing"
)

// TestCurrent checks that facts.txt matches the types in the module versions of go.mod.
func TestCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile("../../facts.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Error("facts.txt is out of date: run go generate ./internal/server/openapi")
	}
}
