package main

import (
	"fmt"
	"slices"
	"strings"
)

// union fills a type that is one of several objects, told apart by a
// discriminator or by the members they have.
func (b *builder) union(t *goType, name string, s *schema) error {
	t.kind = kindUnion
	stable := b.src.stable.get(name)
	for _, v := range s.variants() {
		tag, wire := discriminator(v)
		if tag != "" {
			t.tag = tag
		}
		if tag != "" && wire == "" {
			t.open = true
			t.other = slices.DeleteFunc(slices.Clone(v.Required), func(name string) bool { return name == tag })
			continue
		}
		if err := b.variant(t, v, wire); err != nil {
			return err
		}
		last := t.variants[len(t.variants)-1]
		last.unstable = !t.unstable && wire != "" && !hasVariant(stable, wire)
	}
	return nil
}

// discriminator returns the name and value of the property that tells v from
// its siblings. The value is empty for the variant that stands for all others.
func discriminator(v *schema) (tag, wire string) {
	for _, p := range v.Properties {
		switch {
		case p.schema.text() != "":
			return p.name, p.schema.text()
		case v.Title == "other" && p.schema.Type.is("string") && slices.Contains(v.Required, p.name) && tag == "":
			tag = p.name
		}
	}
	return tag, ""
}

func hasVariant(s *schema, wire string) bool {
	if s == nil {
		return false
	}
	for _, v := range s.variants() {
		if _, w := discriminator(v); w == wire {
			return true
		}
	}
	return false
}

// variant adds one variant, whose payload is a definition or, where the schema
// writes it in place, a type named after the union.
func (b *builder) variant(t *goType, v *schema, wire string) error {
	label := wire
	if label == "" {
		label = v.Title
	}
	out := &variant{name: variantName(label), wire: wire, label: label}
	t.variants = append(t.variants, out)
	use := fmt.Sprintf("the %s variant of %s", label, t.name)
	if refName := payloadRef(v); refName != "" {
		payload, err := b.define(refName)
		if err != nil {
			return err
		}
		payload.uses = append(payload.uses, use)
		out.payload, out.required = payload.name, b.src.all.get(refName).Required
		return nil
	}
	payload := &goType{name: t.name + out.name, kind: kindObject, unstable: t.unstable, uses: []string{use}}
	b.add(payload.name, payload)
	out.payload = payload.name
	for _, name := range v.Required {
		if v.Properties.get(name).text() == "" {
			out.required = append(out.required, name)
		}
	}
	err := b.object(payload, payload.name, v)
	payload.noMeta = false // an object of its own may carry _meta
	return err
}

func payloadRef(v *schema) string {
	if len(v.AllOf) == 1 {
		return v.AllOf[0].ref()
	}
	return v.Ref
}

// composite fills an object that has members of its own and those of one of
// several variants. Where all of them fit in one struct they are merged;
// where variants give one name different types, each is a half of its own.
func (b *builder) composite(t *goType, name string, s *schema) error {
	t.kind = kindObject
	if err := b.object(t, name, s); err != nil {
		return err
	}
	if b.conflicts(s) {
		return b.halves(t, name, s)
	}
	return b.merge(t, name, s)
}

// conflicts reports whether two variants give one property different types.
func (b *builder) conflicts(s *schema) bool {
	types := map[string]string{}
	for _, v := range s.variants() {
		for _, p := range b.flatten(v) {
			if p.schema.text() != "" || v.Title == "other" {
				continue
			}
			sign := fmt.Sprint(p.schema.Type, p.schema.ref())
			if old, ok := types[p.name]; ok && old != sign {
				return true
			}
			types[p.name] = sign
		}
	}
	return false
}

// flatten returns the properties of v, of what it refers to and of its variants.
func (b *builder) flatten(v *schema) properties {
	out := slices.Clone(v.Properties)
	if name := payloadRef(v); name != "" {
		out = append(out, b.flatten(b.src.all.get(name))...)
	}
	for _, inner := range v.variants() {
		out = append(out, b.flatten(inner)...)
	}
	return out
}

// halves gives the composite one pointer per variant.
func (b *builder) halves(t *goType, name string, s *schema) error {
	if err := b.union(t, name, s); err != nil {
		return err
	}
	t.kind = kindObject
	for _, v := range t.variants {
		payload := b.named(v.payload)
		payload.half, payload.noMeta = true, true
		v.members = strings.Join(payload.fieldNames(), ",")
	}
	return nil
}

func (t *goType) fieldNames() (names []string) {
	for _, f := range t.fields {
		names = append(names, f.wire)
	}
	return names
}

// merge adds the properties of all variants to the struct of t.
func (b *builder) merge(t *goType, name string, s *schema) error {
	tag, values := "", &goType{kind: kindEnum}
	for _, v := range s.variants() {
		vtag, wire := discriminator(v)
		if vtag != "" {
			tag = vtag
		}
		if wire != "" {
			values.values = append(values.values, value{name: goName(wire), wire: wire})
		}
		values.open = values.open || vtag != "" && wire == ""
		if err := b.mergeVariant(t, v, wire, vtag); err != nil {
			return err
		}
	}
	if tag != "" {
		values.name = goName(t.name + goName(tag))
		values.unstable = t.unstable
		values.uses = []string{"the " + tag + " of " + t.name}
		b.add(values.name, values)
		b.setTag(t, tag, b.use(values, values.name))
	}
	return nil
}

// setTag types the discriminator, which may be a property of t already.
func (b *builder) setTag(t *goType, tag string, r ref) {
	t.tag = tag
	for _, f := range t.fields {
		if f.wire == tag {
			f.elem, f.pointer, f.nullable, f.patch = r, false, false, false
			f.onError = true // null says the same as absent
			return
		}
	}
	t.fields = slices.Insert(t.fields, 0, &field{name: goName(tag), wire: tag, elem: r, required: true})
}

func (b *builder) mergeVariant(t *goType, v *schema, wire, tag string) error {
	n := need{wire: wire}
	for _, inner := range b.levels(v) {
		for _, p := range inner.Properties {
			if p.name == tag || p.name == "_meta" || p.schema.Type.is("null") {
				continue
			}
			required := slices.Contains(inner.Required, p.name)
			if required && wire != "" {
				n.allOf = append(n.allOf, p.name)
			}
			if err := b.mergeField(t, p, required && wire != "", wire); err != nil {
				return err
			}
		}
		for _, scope := range inner.variants() {
			for _, p := range b.flatten(scope) {
				if err := b.mergeField(t, p, false, ""); err != nil {
					return err
				}
			}
			n.anyOf = append(n.anyOf, b.requiredOf(scope)...)
		}
	}
	if wire == "" && tag == "" && len(v.Required) > 0 { // told apart by its members
		t.anyNeed(v.Required)
		return nil
	}
	if len(n.allOf)+len(n.anyOf) > 0 {
		t.needs = append(t.needs, n)
	}
	return nil
}

// levels returns v and what it refers to.
func (b *builder) levels(v *schema) []*schema {
	if name := payloadRef(v); name != "" {
		return []*schema{v, b.src.all.get(name)}
	}
	return []*schema{v}
}

func (b *builder) requiredOf(v *schema) []string {
	if name := payloadRef(v); name != "" {
		return b.src.all.get(name).Required
	}
	return v.Required
}

func (t *goType) anyNeed(names []string) {
	for i := range t.needs {
		if t.needs[i].wire == "" && len(t.needs[i].allOf) == 0 {
			t.needs[i].anyOf = append(t.needs[i].anyOf, names...)
			return
		}
	}
	t.needs = append(t.needs, need{anyOf: slices.Clone(names)})
}

func (b *builder) mergeField(t *goType, p property, required bool, wire string) error {
	for _, f := range t.fields {
		if f.wire == p.name {
			if required {
				f.unless += fmt.Sprintf(" || x.TAG == %q", wire)
			}
			return nil
		}
	}
	f, err := b.field(t, p, nil)
	if err != nil {
		return err
	}
	f.pointer = f.elem.object && f.shape == shapeOne && !f.nullable
	if required {
		f.unless = fmt.Sprintf(" || x.TAG == %q", wire)
	}
	t.fields = append(t.fields, f)
	return nil
}
