package openapi

// write returns the path as a value of a document's "paths".
func (p path) write(v3 bool) object {
	o := object{}
	if len(p.parameters) > 0 {
		o["parameters"] = writeParameterList(p.parameters, v3)
	}
	for _, op := range p.operations {
		if v3 {
			o[op.method] = op.writeV3()
		} else {
			o[op.method] = op.writeV2()
		}
	}
	return o
}

func (op operation) common() object {
	o := object{
		"operationId": op.id,
		"description": op.description,
		"tags":        []string{op.tag},
	}
	if op.action != "" {
		o["x-kubernetes-action"] = op.action
	}
	if op.gvk.Kind != "" {
		o["x-kubernetes-group-version-kind"] = gvkObject(op.gvk)
	}
	return o
}

func (op operation) types() []string {
	if op.answerTypes != nil {
		return op.answerTypes
	}
	if op.custom {
		if op.stream {
			return append(customTypes[:len(customTypes):len(customTypes)], customStreams...)
		}
		return customTypes
	}
	if op.stream {
		return append(answerTypes[:len(answerTypes):len(answerTypes)], streamTypes...)
	}
	return answerTypes
}

func (op operation) writeV3() object {
	o := op.common()
	if len(op.parameters) > 0 {
		o["parameters"] = writeParameterList(op.parameters, true)
	}
	content := func(types []string, name string) object {
		c := object{}
		for _, t := range types {
			c[t] = object{"schema": refOrText("#/components/schemas/", name)}
		}
		return c
	}
	if op.body != "" {
		body := object{"content": content(op.bodyTypes, op.body)}
		if op.bodyRequired {
			body["required"] = true
		}
		o["requestBody"] = body
	}
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range op.codes {
		responses[code] = object{"description": codeText[code], "content": content(op.types(), op.answer)}
	}
	o["responses"] = responses
	return o
}

func (op operation) writeV2() object {
	o := op.common()
	o["schemes"], o["produces"], o["consumes"] = []string{"https"}, op.types(), anyType
	switch {
	case op.custom:
		o["consumes"] = customTypes
	case op.gvk.Kind == "" && op.answer == "":
		delete(o, "consumes")
	case op.gvk.Kind == "":
		o["consumes"] = op.types()
	}
	parameters := writeParameterList(op.parameters, false)
	if op.body != "" {
		o["consumes"] = op.bodyTypes
		body := object{"name": "body", "in": "body", "schema": object{"$ref": "#/definitions/" + op.body}}
		if op.bodyRequired {
			body["required"] = true
		}
		parameters = append([]object{body}, parameters...)
	}
	if len(parameters) > 0 {
		o["parameters"] = parameters
	}
	responses := object{"401": object{"description": "Unauthorized"}}
	for _, code := range op.codes {
		responses[code] = object{"description": codeText[code], "schema": refOrText("#/definitions/", op.answer)}
	}
	o["responses"] = responses
	return o
}

// refOrText returns a reference to a definition, or the schema of text for an empty name.
func refOrText(where, name string) object {
	if name == "" {
		return object{"type": "string"}
	}
	return object{"$ref": where + name}
}
