package main

// model is what one package of generated code holds.
type model struct {
	version string // "v1"
	types   []*goType
	byName  map[string]*goType // by the schema's name
	methods []method
	calls   []call
}

type kind int

const (
	kindAlias  kind = iota // another name for a Go type
	kindEnum               // a string with known values
	kindCode               // an integer with known values
	kindObject             // a struct
	kindUnion              // one of several objects
	kindLists              // one of two arrays
)

// goType is one definition, as Go sees it.
type goType struct {
	name     string
	kind     kind
	unstable bool
	uses     []string // where it appears, for the doc comment

	target   string // kindAlias: the Go type
	kinds    string // kindAlias of a choice between scalars: what wire.DecodeKinds allows
	values   []value
	open     bool // an enum or union that may hold more than the schema knows
	fields   []*field
	noMeta   bool
	half     bool // the part of an object that one variant adds
	byValue  bool // some field holds it by value although it is optional
	tag      string
	variants []*variant
	other    []string // what a variant that the schema does not name must have
	needs    []need
	side     string
	method   string
}

type value struct {
	name, wire string
	unstable   bool
}

// field is one property.
type field struct {
	name, wire string
	elem       ref
	shape      shape
	rules      []string
	required   bool
	nullable   bool
	onError    bool
	patch      bool // acp.Opt
	pointer    bool // optional without being nullable, and its zero value means something
	unstable   bool
	unless     string // Go condition under which a zero value is written all the same
}

type shape int

const (
	shapeOne shape = iota
	shapeSlice
	shapeMap
	shapeMembers
)

// ref is a type as it is used: its Go name and the functions that code it.
type ref struct {
	goType         string
	decode, encode string
	object         bool // a struct, optional as a pointer
	raw            bool // a jsontext.Value
	enumOrString   bool
	boolean        bool
}

// variant is one of the things a union can be.
type variant struct {
	name, wire string // wire is empty for a variant without a discriminator
	label      string // what the schema calls a variant without a discriminator
	payload    string
	members    string // of a half: the names it owns
	required   []string
	unstable   bool
}

// need is what a flat object must have once its discriminator is known.
type need struct {
	wire  string // the discriminator's value; empty: always
	anyOf []string
	allOf []string
}

// optionalObject reports whether f may be absent and is a struct in Go.
func (f *field) optionalObject() bool {
	return f.shape == shapeOne && f.elem.object && !f.required && !f.nullable
}

// call is one method of one side.
type call struct {
	name, wire     string
	side           string // who implements it
	params, result string // result is empty for a notification
	unstable       bool
}

// method is one method of the protocol, whoever implements it.
type method struct {
	name, wire string
	unstable   bool
}
