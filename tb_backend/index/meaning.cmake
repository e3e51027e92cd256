# cmake -DOUT=FILE -DROOT=DIR -P meaning.cmake SOURCES…: a hash of all that decides what a trace file
# means, so that an index made by another reader is known as such without anybody counting versions.
set(all "")
math(EXPR last "${CMAKE_ARGC} - 1")
set(seen FALSE)
foreach(i RANGE ${last})
  if(seen)
    file(SHA256 ${CMAKE_ARGV${i}} hash)
    string(APPEND all ${hash})
  elseif(CMAKE_ARGV${i} MATCHES "meaning.cmake$")
    set(seen TRUE)
  endif()
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 16 hash)
file(WRITE ${OUT} "#include \"tb_backend/index/layout.h\"
const std::uint64_t traceglass::index::kMeaning = 0x${hash}ULL;
")
