# find_package(HostwireShmem) defines the targets HostwireShmem::shmem (shared) and
# HostwireShmem::shmem_static, and the variable HostwireShmem_OSHRUN.
#
# Programs find libshmem.so where they are installed, too: CMAKE_INSTALL_RPATH_USE_LINK_PATH is on for
# targets that are made behind this, unless the project has set it.
get_filename_component(_hostwire_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET HostwireShmem::shmem)
  add_library(HostwireShmem::shmem SHARED IMPORTED)
  set_target_properties(HostwireShmem::shmem PROPERTIES
    IMPORTED_LOCATION "${_hostwire_prefix}/lib/libshmem.so.1"
    IMPORTED_SONAME "libshmem.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostwire_prefix}/include")
  add_library(HostwireShmem::shmem_static STATIC IMPORTED)
  set_target_properties(HostwireShmem::shmem_static PROPERTIES
    IMPORTED_LOCATION "${_hostwire_prefix}/lib/libshmem.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_hostwire_prefix}/include"
    INTERFACE_LINK_LIBRARIES "@CMAKE_PRIVATE_LIBS@")
endif()
if(NOT DEFINED CMAKE_INSTALL_RPATH_USE_LINK_PATH)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()
set(HostwireShmem_OSHRUN "${_hostwire_prefix}/bin/oshrun")
unset(_hostwire_prefix)
