package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"go.yaml.in/yaml/v3"
)

var (
	sizeType     = reflect.TypeFor[Size]()
	durationType = reflect.TypeFor[time.Duration]()
)

// strict makes a decoder convert text, which is all that flags and variables can be, and
// refuse every other conversion in which a value could change without notice.
func strict(d *mapstructure.DecoderConfig) {
	d.WeaklyTypedInput = false
	d.DecodeHook = decodeValue
}

func decodeValue(from, to reflect.Type, value any) (any, error) {
	switch {
	case from == to:
		return value, nil
	case to == durationType:
		return decodeDuration(value)
	}
	if to.Kind() == reflect.String && from.Kind() != reflect.String {
		// The value is left out since it may be a password.
		return nil, errors.New("is not text: put it in quotes")
	}
	if text, isText := value.(string); isText {
		return decodeText(to, text)
	}
	if number, isFloat := value.(float64); isFloat && isInteger(to.Kind()) {
		if number != math.Trunc(number) || math.Abs(number) > 1<<53 {
			return nil, fmt.Errorf("%v is not a whole number", number)
		}
	}
	return value, nil
}

// decodeProblems puts what a decoder found into our own words, a line for each problem.
func decodeProblems(err error) error {
	if problem, ok := err.(*mapstructure.DecodeError); ok { //nolint:errorlint // one that wraps a list has a name to lose
		return fmt.Errorf("%s: %w", problem.Name(), problem.Unwrap())
	}
	var list interface{ Unwrap() []error }
	if !errors.As(err, &list) {
		return err
	}
	var errs []error
	for _, problem := range list.Unwrap() {
		errs = append(errs, decodeProblems(problem))
	}
	return errors.Join(errs...)
}

func decodeText(to reflect.Type, text string) (any, error) {
	switch {
	case to == sizeType:
		return ParseSize(text)
	case to.Kind() == reflect.Slice:
		return decodeList(text)
	case isInteger(to.Kind()):
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return number, nil
	case to.Kind() == reflect.Float64:
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return number, nil
	case to.Kind() == reflect.Bool:
		truth, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return truth, nil
	}
	return text, nil
}

// decodeList reads the YAML of a list, as a variable has to hold it.
func decodeList(text string) (any, error) {
	var list []any
	if err := yaml.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("%q is not a list: want it in YAML, such as [a, b]", text)
	}
	return list, nil
}

func decodeDuration(value any) (any, error) {
	text, isText := value.(string)
	if !isText {
		return nil, fmt.Errorf("%v is not a duration: want one with its unit, such as 30s", value)
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a duration: want one with its unit, such as 30s", text)
	}
	return duration, nil
}

func isInteger(kind reflect.Kind) bool {
	return kind == reflect.Int || kind == reflect.Int64
}
