package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCurveSizes(t *testing.T) {
	for text, want := range map[string]int{"1000": 1, "1000,3000,100000": 3, "": 0, "1500": 0, "2000,1000": 0, "1000,1000": 0, "a": 0} {
		if got, err := parseCurve(text); len(got) != want && err == nil || (err == nil) != (want > 0) {
			t.Errorf("-curve %s: %v, %v", text, got, err)
		}
	}
}

// TestCurveIsDrawn checks that each value of each point is in the table and in the drawing, which is XML.
func TestCurveIsDrawn(t *testing.T) {
	points := []point{{Pods: 1000, Nodes: 10, PodCPU: 1234, Get: 0.456}, {Pods: 2000000, Nodes: 20, PodCPU: 7890, Resident: 12}}
	var table bytes.Buffer
	printCurve(&table, points)
	file := filepath.Join(t.TempDir(), "curve.svg")
	if err := drawCurve(file, points); err != nil {
		t.Fatal(err)
	}
	drawn, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1234", "7890", "0.456", "12.0"} {
		if !strings.Contains(table.String(), want) || !strings.Contains(string(drawn), ">"+want+"<") {
			t.Errorf("%s is missing in\n%s\n%s", want, &table, drawn)
		}
	}
	if absent := "disk"; strings.Contains(table.String(), absent) || strings.Contains(string(drawn), absent) {
		t.Errorf("%s, which was not measured, is in\n%s\n%s", absent, &table, drawn)
	}
	checkXML(t, drawn)
	if !strings.Contains(string(drawn), ">2.00M<") || !strings.Contains(string(drawn), ">1k<") {
		t.Error("the sizes are not below the axis")
	}
}

func checkXML(t *testing.T, text []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
