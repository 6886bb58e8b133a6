package fastjson_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
)

var unstructuredTexts = []string{
	`{}`, ` { } `, `{"a":1}`, `{"a":-0}`, `{"a":1.5,"b":1e3,"c":1E-2,"d":0.0,"e":-1}`, `{"a":9223372036854775807}`, `{"a":9223372036854775808}`,
	`{"a":123456789012345678}`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":+1}`, `{"a":1e400}`, `{"a":NaN}`,
	`{"a":null,"b":true,"c":false,"d":"x","e":[],"f":{},"g":[1,"x",null,[{}],{"a":{"b":[]}}]}`,
	`{"a":"ü \u00fc \n \" \\ \/ <&> \u2028 ` + "\u2028" + `"}`, `{"ü":1,"\u00fc":2}`, `{"a\n":1,"<b>":"&"}`, `{"a":"` + "\xff" + `"}`, `{"a":"\ud800"}`,
	`{"a":1,"a":2}`, `{"a":{"b":1,"b":2}}`, `{"a":1}x`, `{"a":1`, `{"a":}`, `{"a" 1}`, `{"a":1,}`, `{,}`, `{"a":[1,]}`, `{"a":[,]}`, `{"a":tru}`, `{a:1}`,
	`[]`, `"x"`, `1`, `null`, ``, `{"a":[1 2]}`, "{\"a\":\"\t\"}", `{"b":1,"a":{"d":1,"c":{"f":1,"e":2}},"c":[{"z":1,"y":2}]}`,
	strings.Repeat(`{"a":`, 150) + `1` + strings.Repeat(`}`, 150),
}

// TestLooseAsTheGeneralCodec checks that decoding agrees with sigs.k8s.io/json, and encoding with encoding/json.
func TestLooseAsTheGeneralCodec(t *testing.T) {
	accepted := 0
	for _, text := range unstructuredTexts {
		if sameAsUpstream(t, text) {
			accepted++
		}
	}
	if accepted < 12 {
		t.Errorf("only %d texts were taken", accepted)
	}
}

func sameAsUpstream(t *testing.T, text string) bool {
	got, ok := fastjson.Object([]byte(text))
	if !ok {
		return false
	}
	var want map[string]any
	objections, err := kjson.UnmarshalStrict([]byte(text), &want)
	if err != nil || len(objections) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%q\n got %#v\nwant %#v %v %v", text, got, want, objections, err)
	}
	again, ok := fastjson.MarshalObject(got)
	if general, err := json.Marshal(got); !ok || err != nil || string(again) != string(general) {
		t.Errorf("%q is encoded as\n%s, not\n%s %v", text, again, general, err)
	}
	return true
}

// TestLooseOfOtherTypes checks that types that decoding never produces are refused.
func TestLooseOfOtherTypes(t *testing.T) {
	for _, v := range []any{int32(1), []string{"a"}, map[string]string{}, json.Number("1")} {
		if text, ok := fastjson.MarshalObject(map[string]any{"a": []any{v}}); ok {
			t.Errorf("%#v is encoded as %s", v, text)
		}
	}
	if text, ok := fastjson.MarshalObject(map[string]any{"a": []any(nil), "b": map[string]any(nil)}); !ok || string(text) != `{"a":null,"b":null}` {
		t.Errorf("nil: %s", text)
	}
}

func FuzzLoose(f *testing.F) {
	for _, text := range unstructuredTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { sameAsUpstream(t, text) })
}
