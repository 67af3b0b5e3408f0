// Package wire is what the generated codecs of acp/v1 and acp/v2 run on.
//
// A message is checked once by jsontext (syntax, duplicate names, UTF-8) and
// then decoded by slicing: each object is walked once, each member is handed to
// the function for its type as the bytes it had on the wire. A union looks for
// its discriminator first and decodes only the variant that it names. Because a
// member is decoded from its own bytes, the schema's leniency keywords cost
// nothing: a member that fails is reset, an item that fails is left out.
package wire
