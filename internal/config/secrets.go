package config

import (
	"reflect"
	"slices"

	"github.com/grapnel-ai/grapnel/internal/secret"
)

// SecretSetting is a setting that holds a credential or may hold one: an API
// key, a token, a header, a variable of a server.
type SecretSetting struct {
	Path Path
	Ref  secret.Ref
}

// Secrets lists the references in force, from the file and the environment, by
// path. Unset ones are left out.
func (c *Config) Secrets() []SecretSetting {
	var found []SecretSetting
	collectSecrets(reflect.ValueOf(*c), nil, &found)
	slices.SortFunc(found, func(a, b SecretSetting) int { return slices.Compare(a.Path, b.Path) })
	return found
}

func collectSecrets(v reflect.Value, p Path, found *[]SecretSetting) {
	if ref, ok := v.Interface().(secret.Ref); ok {
		if !ref.IsZero() {
			*found = append(*found, SecretSetting{p, ref})
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for f, field := range v.Fields() {
			if name := f.Tag.Get("toml"); name != "" {
				collectSecrets(field, p.with(name), found)
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			collectSecrets(value, p.with(key.String()), found)
		}
	}
}

// HoldsSecret reports whether p may hold a reference to a credential. The error
// says that there is no such setting.
func HoldsSecret(p Path) (bool, error) {
	n, err := schema().lookup(p)
	return err == nil && n.kind == kindSecret, err
}
