// Ends this process with the program that started it.
#pragma once

namespace traceglass {

// From now on the process ends when its standard input closes or its parent dies. Nothing needs
// to be put in order: the server holds no state that outlives it.
void exit_with_parent();

}  // namespace traceglass
