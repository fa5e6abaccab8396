// Damage that a protobuf message survives as a message: its bytes still parse, and what they say is wrong. Of an ONNX model: sizes, types
// and attributes that do not fit, inputs that come from elsewhere or from nowhere, nodes twice or not at all.
#pragma once
#include "models/onnx_proto.h"
#include "tests/fuzz/inputs.h"

namespace dougong::fuzz {

using google::protobuf::FieldDescriptor, google::protobuf::Message, google::protobuf::Reflection;

// A message inside `message`, or itself: down at random, mostly to the bottom.
inline Message *inner_message(Message *message, Random &random) {
  while (!one_in(random, 6)) {
    const Reflection *reflection = message->GetReflection();
    std::vector<const FieldDescriptor *> set, children;
    reflection->ListFields(*message, &set);
    for (const FieldDescriptor *field : set)
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        children.push_back(field);
    if (children.empty())
      return message;
    const FieldDescriptor *field = children[below(random, children.size())];
    message = field->is_repeated()
                  ? reflection->MutableRepeatedMessage(message, field, int(below(random, uint64_t(reflection->FieldSize(*message, field)))))
                  : reflection->MutableMessage(message, field);
  }
  return message;
}

// Some string that stands in `root`: a name for another's place.
inline std::string string_of(Message *root, Random &random) {
  for (int tries = 0; tries < 8; ++tries) {
    Message *message = inner_message(root, random);
    const Reflection *reflection = message->GetReflection();
    std::vector<const FieldDescriptor *> set;
    reflection->ListFields(*message, &set);
    if (set.empty())
      continue;
    const FieldDescriptor *field = set[below(random, set.size())];
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING)
      continue;
    std::string text = field->is_repeated() ? reflection->GetRepeatedString(*message, field, 0) : reflection->GetString(*message, field);
    if (text.size() < 64)
      return text;
  }
  return "";
}

inline double real(Random &random) {
  static const double reals[] = {0, -1, 0.5, 1e-30, 1e30, 1e300, -1e9, double(INFINITY), double(NAN)};
  return reals[below(random, std::size(reals))];
}

inline void change_field(Message *root, Message *message, const FieldDescriptor *field, Random &random) {
  const Reflection *reflection = message->GetReflection();
  int size = field->is_repeated() ? reflection->FieldSize(*message, field) : 0, at = size ? int(below(random, uint64_t(size))) : 0;
  if (size && one_in(random, 3)) { // one less, or two in each other's place
    if (size > 1 && one_in(random, 2))
      reflection->SwapElements(message, field, at, size - 1);
    else
      reflection->RemoveLast(message, field);
    return;
  }
  bool one = field->is_repeated() && size && !one_in(random, 4); // this element; else one more
  auto put = [&](auto set, auto set_repeated, auto add, auto value) {
    if (!field->is_repeated())
      (reflection->*set)(message, field, value);
    else if (one)
      (reflection->*set_repeated)(message, field, at, value);
    else
      (reflection->*add)(message, field, value);
  };
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return put(&Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32,
               one_in(random, 3) ? int32_t(number(random)) : int32_t(below(random, 20)));
  case FieldDescriptor::CPPTYPE_INT64:
    return put(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64,
               one_in(random, 3) ? int64_t(number(random)) : int64_t(below(random, 12)) - 4);
  case FieldDescriptor::CPPTYPE_UINT64:
    return put(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64, number(random));
  case FieldDescriptor::CPPTYPE_FLOAT:
    return put(&Reflection::SetFloat, &Reflection::SetRepeatedFloat, &Reflection::AddFloat, float(real(random)));
  case FieldDescriptor::CPPTYPE_DOUBLE:
    return put(&Reflection::SetDouble, &Reflection::SetRepeatedDouble, &Reflection::AddDouble, real(random));
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string text = string_of(root, random);
    if (!field->is_repeated())
      reflection->SetString(message, field, text);
    else if (one)
      reflection->SetRepeatedString(message, field, at, text);
    else
      reflection->AddString(message, field, text);
    return;
  }
  case FieldDescriptor::CPPTYPE_ENUM: // of the numbers that there are: others do not survive the bytes
    if (!field->is_repeated())
      reflection->SetEnum(message, field, field->enum_type()->value(int(below(random, uint64_t(field->enum_type()->value_count())))));
    return;
  case FieldDescriptor::CPPTYPE_MESSAGE:
    if (size) // one more, the same as another
      reflection->AddMessage(message, field)->CopyFrom(reflection->GetRepeatedMessage(*message, field, at));
    else
      reflection->ClearField(message, field);
    return;
  default:
    return;
  }
}

// One to four changes; mostly of fields that are set.
inline void edit(Message *root, Random &random) {
  for (uint64_t changes = 1 + below(random, 4); changes > 0; --changes) {
    Message *message = inner_message(root, random);
    std::vector<const FieldDescriptor *> fields;
    message->GetReflection()->ListFields(*message, &fields);
    const google::protobuf::Descriptor *type = message->GetDescriptor();
    if (fields.empty() || one_in(random, 8))
      fields = {type->field(int(below(random, uint64_t(type->field_count()))))};
    change_field(root, message, fields[below(random, fields.size())], random);
  }
}

} // namespace dougong::fuzz
