package grade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// DecodeSuite reads a suite from JSON and validates it. Unknown fields are refused: what a
// later version of a suite asks for and this one does not know would give wrong verdicts.
func DecodeSuite(data []byte) (*Suite, error) {
	if err := CheckBulk(data); err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var suite *Suite
	if err := decoder.Decode(&suite); err != nil {
		return nil, fmt.Errorf("suite: %w", err)
	}
	if suite == nil {
		return nil, errors.New("suite: is null: want an object")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("suite: something follows the object: want nothing")
	}
	var c complaints
	suite.validate(&c, "suite")
	if err := c.err(); err != nil {
		return nil, err
	}
	return suite, nil
}
