# Builds a CMake project with snarl-cc and snarl-c++:
#   cmake -DCMAKE_TOOLCHAIN_FILE=PREFIX/share/snarl/snarl-toolchain.cmake
# SNARL_CC and SNARL_CXX in the environment choose the compiler behind them. Set them both when
# cmake configures and when it builds.

# bin is beside share in a build tree, and two folders above share/snarl in an installation.
find_program(SNARL_C_COMPILER snarl-cc
	PATHS "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../bin"
	NO_DEFAULT_PATH)
find_program(SNARL_CXX_COMPILER snarl-c++
	PATHS "${CMAKE_CURRENT_LIST_DIR}/../bin" "${CMAKE_CURRENT_LIST_DIR}/../../bin"
	NO_DEFAULT_PATH)
if(NOT SNARL_C_COMPILER OR NOT SNARL_CXX_COMPILER)
	message(FATAL_ERROR "no bin/snarl-cc and bin/snarl-c++ beside the folder of "
		"${CMAKE_CURRENT_LIST_FILE}: use the file of an installed or built snarl")
endif()

set(CMAKE_C_COMPILER "${SNARL_C_COMPILER}")
set(CMAKE_CXX_COMPILER "${SNARL_CXX_COMPILER}")
