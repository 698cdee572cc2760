package lines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// object reads a JSON object field by field, and collects what is wrong with each.
type object struct {
	where  string // its path and a dot; empty for the line itself
	fields map[string]json.RawMessage
	known  []string
	errs   *[]error
}

// open begins to read an object. It reports false for what is none.
func open(where string, data []byte, errs *[]error) (*object, bool) {
	o := &object{errs: errs}
	if where != "" {
		o.where = where + "."
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&o.fields)
	if err == nil && o.fields == nil {
		err = errors.New("is null: want an object")
	}
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = fmt.Errorf("something follows the object at byte %d: want one object a line", decoder.InputOffset())
		}
	}
	if err != nil {
		*errs = append(*errs, named(where, explain(err)))
		return nil, false
	}
	return o, true
}

// read reads one field. A field that is absent or null leaves target as it is.
func (o *object) read(name string, target any) {
	o.known = append(o.known, name)
	data, given := o.fields[name]
	if !given || string(data) == "null" {
		return
	}
	if err := json.Unmarshal(data, target); err != nil {
		o.refuse(name, explain(err))
	}
}

// raw returns a field that is read elsewhere; nil if it is absent or null.
func (o *object) raw(name string) json.RawMessage {
	o.known = append(o.known, name)
	if data := o.fields[name]; string(data) != "null" {
		return data
	}
	return nil
}

func (o *object) has(name string) bool {
	data, given := o.fields[name]
	return given && string(data) != "null"
}

func (o *object) refuse(name string, err error) {
	*o.errs = append(*o.errs, named(o.where+name, err))
}

// end refuses the fields that nobody asked for.
func (o *object) end() {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if !slices.Contains(o.known, name) {
			o.refuse(name, fmt.Errorf("is an unknown field: want one of %s", strings.Join(o.known, ", ")))
		}
	}
}

// named puts a field before an error, which may begin with the rest of the field's path.
func named(field string, err error) error {
	if field == "" {
		return err
	}
	return fmt.Errorf("%s: %w", field, err)
}

// explain words an error of encoding/json in terms of what was written.
func explain(err error) error {
	var typed *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &typed):
		below := ""
		if typed.Field != "" {
			below = typed.Field + " "
		}
		return fmt.Errorf("%sis a JSON %s: want %s", below, typed.Value, wanted(typed.Type))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("ends in the middle of the JSON object")
	case errors.As(err, &syntax):
		return fmt.Errorf("is no JSON from byte %d on: %w", syntax.Offset, err)
	}
	return err
}

func wanted(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map:
		return "an object"
	case reflect.Struct: // how sandbox.Bytes reads what is no text
		return `a string or {"base64": "..."}`
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	default:
		return "a number"
	}
}
