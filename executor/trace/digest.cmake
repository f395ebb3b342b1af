# SHA-256 of the object that the tracer loads, as a header: cmake -DOBJECT=FILE
# -DHEADER=FILE -P digest.cmake
file(SHA256 ${OBJECT} digest)
file(WRITE ${HEADER} "#define TRACE_OBJECT_SHA256 \"${digest}\"\n")
